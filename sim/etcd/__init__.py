"""etcd's members on the model's own Raft: where their process differs from TiKV's, and no more.

Raft, peers, mailboxes, the log device, elections, transfers and crashes are those of every store.
What is an etcd member's own stands here: one Go process with as many running threads as its machine
has cores, a raft loop that tells commits at once, a stream a peer, puts that are proposed as they
come, and bolt.

Source: etcd-io/etcd release-3.4 etcdserver/{raft.go, server.go, v3_server.go},
etcdserver/api/rafthttp/stream.go, mvcc/backend/backend.go.
"""
