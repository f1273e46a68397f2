def measure(s): return iter(())
