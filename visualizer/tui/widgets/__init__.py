"""One region of the screen each; they draw from a scene and speak only by posting messages."""
