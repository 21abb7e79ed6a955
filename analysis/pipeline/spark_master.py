"""What a Spark master's name says, for whoever need not know Spark."""


def is_local(master: str) -> bool:
    """Whether workers are processes of this machine that see its files."""
    return master.startswith("local")
