// Package journal keeps one agent's records in a file, so that nothing that was told is lost with its process or
// machine.
//
// It decides what of a file counts after a crash, and when a write may be called durable. It never decides what a
// record means: that is vppwire/agent. Start at Open, which gives back what earlier lives have written, oldest first,
// or at OpenInto, which gives it on while it reads: several goroutines check and parse pieces of the file, the caller
// gets them in order.
//
// The file is text: frames of record lines, each frame behind a line with the number of its records, its length and its
// checksum. Frames are only appended; a rewriting goes to a file beside, which is synced before it takes the name. A
// frame counts as a whole or not at all, and nothing behind one that does not count is read: what Open returns is
// always what an earlier moment of the file held. Writes that wait while another one is being synced share the next
// sync. After a write has failed nothing counts as durable until everything has been written anew, as a kernel forgets
// what it could not write and shows it all the same; Open therefore reads from the disk, past the kernel's cache.
//
// What is owed to an agent is said in package journaltest, which tries it. The model is sim/hostmodel's Journal; it
// shares no code with this. To change the format, give frames another first word and go on reading this one.
package journal
