// Package wire is what the CNI plugin and the node agent say to each other over a unix socket.
//
// It decides spelling and framing, never what is done: the plugin is vppwire/cni, the agent's end vppwire/host. Start
// at Request and Response. A connection carries one request and one response, each one JSON document on one line that
// ends with a newline and has at most LineMax bytes. A plugin that closes the connection before the response withdraws
// its request: the agent learns that nobody waits. A connection that closes without a response says nothing about what
// was done, as the agent may have died behind it; asking the same again is always right.
//
// Fields that one side does not know are ignored, so that a plugin may be newer than the agent it finds. Version is
// raised when that no longer holds. To add a verb, name it here, teach the agent's end, then the plugin.
package wire
