// Package cnisocket is the agent's end of the CNI plugin's unix socket.
//
// It decides who may ask, and which event a request is. It never decides the answer: that is vppwire/agent. Start at
// Listen and Server.Serve. The socket is for its owner alone, and the kernel is asked besides who is at the other end:
// root or the agent's own user. A connection carries one request, as vppwire/cni/wire says; when it closes early, the
// agent is told that nobody waits. Requests run beside each other; the agent puts them in order. The other end is
// vppwire/cni. To add a command, name it in vppwire/cni/wire and translate it in request.go.
package cnisocket
