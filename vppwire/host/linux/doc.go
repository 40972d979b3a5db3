// Package linux does on a real Linux what a vppwire.Session asks for: links, addresses, routes and neighbors of any
// network namespace, by netlink.
//
// It decides how an operation is spelled for the kernel and what the kernel's answer means. It never decides what
// should be there, and it holds no namespace open: an open one would outlive its pod. Start at New. Each operation
// opens the namespace that it is about by its path, so that one that is gone is told as such. The model of this is
// sim/hostmodel, which shares no code with it; the same stories are told to both in the tests.
//
// A veth's far end is in a namespace of which the kernel tells a number only. Its name and path are therefore noted in
// the near end's alias, and believed as long as the number fits.
//
// To add an operation, add it to vppwire.LinuxOp, here and to the model.
package linux
