// Package recordtest tries whether the Records of an ipam.NodeAllocator are its state: whether a journal of them, cut
// off anywhere, brings an agent back to a moment that was.
//
// Its user is whoever writes an address system. A test drives the allocator by whatever means, writes down a History,
// and calls Try; ours do so beside their slow twins. It draws nothing by itself and needs no library.
//
// To add a promise that all systems owe, say it at ipam.NodeAllocator and try it in Try.
package recordtest
