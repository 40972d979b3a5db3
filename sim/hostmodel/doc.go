// Package hostmodel is one Linux machine in memory: namespaces, links, addresses, routes, neighbors and a disk.
//
// It decides what a kernel would hold after each operation. It never opens a socket and knows nothing of pods, wiring
// or VPP's inside; VPP's taps come in through methods of plain types. Start at Host, then Disk, and Journal for its
// writer.
//
// Every operation happens at once and either does all or nothing. Nothing here depends on map order or on a clock:
// names, addresses and boots that a kernel would draw are functions of Config.ID. A reboot loses everything but Disks;
// a Disk loses, by choice of a Chooser, any part of what was not synced.
//
// The answers are Linux's. The stories in testdata were recorded from a kernel. With VPPDRILL_KERNEL set, they and
// random operations run against the local kernel, whose answers must be equal. Not modelled: link-local IPv6 addresses
// and their routes, carrier, multicast, metrics, rules, tables other than main, and the milliseconds in which the links
// of a removed namespace still exist. The real counterpart is vppwire/host.
//
// To add an operation, write its file beside neighbor.go and name it in Apply.
package hostmodel
