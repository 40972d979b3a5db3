// Package cloud is the EC2 whose instances a lab's nodes are: the double of AWS by its own protocol, on unix sockets.
//
// It decides nothing that EC2 decides: that is sim/ec2's, behind sim/ec2/endpoint. What it reports of a node is what EC2 has
// assigned to it, not what anything on the node believes. Start at New, then Launch and Terminate instances as nodes come and go.
// Times are the scenario's. Its methods may be called from any goroutine; Config's functions are called while a request is
// performed, and must not ask the Cloud for anything.
//
// To give labs more of AWS, serve it in sim/ec2/endpoint and configure it in New.
package cloud
