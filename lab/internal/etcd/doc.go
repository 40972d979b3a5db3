// Package etcd runs an etcd server inside a lab's process, so that labs need nothing installed.
//
// It decides where the server listens (a unix socket in the lab's folder) and what losing all data means: another
// cluster ID, as after restoring nothing. It knows nothing of what is stored. Start at Start. The modelled store is
// sim/internal/cluster's.
//
// The server's own log is a file beside its data. A Server is for one goroutine at a time.
package etcd
