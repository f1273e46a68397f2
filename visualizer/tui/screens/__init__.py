"""The screens: home, lesson, explore, and the small ones that ask for a choice."""
