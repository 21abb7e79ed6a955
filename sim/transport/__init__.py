"""What carries raft messages between stores: connections, filters, and the names of nodes."""
