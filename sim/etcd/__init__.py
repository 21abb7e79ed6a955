"""etcd beside TiKV: members on the model's own Raft, log engine, disk and network, and no more.

A real etcd could be measured where TiKV could not (docs/ETCD.md). What is common to both is
composed here from outside; the rest is etcd's own, in one Go process a member::

    put_client ─► put_server ─► member: raft loop ─► streams ─► the other members
                        ▲          │    ▲ WAL + fdatasync
                        └── apply ◄┘    └── raftstore.log_engine, protocol.raft
                              └► backend (bolt)

    goroutine ► go_process (procs, system calls; go_heap, go_monitor) ► shared_cores (EEVDF)

``cluster`` joins members, machines and links; ``unit`` runs it with its clients and checks.

Source: etcd-io/etcd release-3.4 etcdserver/{raft.go, server.go, v3_server.go},
etcdserver/api/rafthttp/stream.go, mvcc/backend/backend.go.
"""
