// Package fabric is what the machines of a lab are joined by: named network namespaces, links in them, and two bridges
// in a namespace of the lab's own. The bridges' namespace is not the machine's, because a bridge beside Docker's loses
// frames to its firewall.
//
// It knows neither processes nor containers: whoever makes machines, lab/netns or lab/container, brings each one's
// namespace. Start at New and Fabric.Join, or at Create for a namespace alone.
//
// Links are made with both ends where they belong, so that no lab ever has a link in the machine's own namespace. What
// is made stays until Remove: it belongs to no process.
package fabric
