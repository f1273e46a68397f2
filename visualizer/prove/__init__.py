"""The proof: many processes drive queues at once while observers judge every reading they can get.

Three queues of one private engine are watched in one run: one driven by scripts, one by the naive client's separate
commands, and one on which calls are made that the scripts accept although they are odd. What is told was counted.

Importing this package imports nothing else: the processes it starts want to be ready soon.
"""
