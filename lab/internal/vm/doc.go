// Package vm runs a command of this machine inside a small QEMU machine, whose kernel has what this machine's may lack:
// vhost_net for VPP's taps, netem, VLANs, SCTP. Root is not needed: the command is root inside.
//
// It decides which kernel, modules and devices such a machine has. It never changes this machine: inside, its whole file
// system is there to read, changes stay in the machine's memory, and only Order.Writable reaches the disk.
//
// Start at Run for the outside; Main is the machine's first process. Ready says whether a machine can be made here. The
// two sides speak over four virtio-serial ports: the order, stdout, stderr and control. Control carries "alive" while
// all is well and "exit CODE" at the end; "interrupt" goes in. A machine whose outer process is gone powers off, one
// that is silent for Silence is ended, and its console says why, where it says anything.
//
// To give the machine another module, add it to wanted in modules.go.
package vm
