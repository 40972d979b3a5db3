// Package endpoint serves a modelled EC2 over HTTP: the EC2 Query protocol with its XML, and an instance metadata
// service that wants session tokens (v2). The AWS SDK, and any program built on it, talks to the model as to AWS.
//
// It decides how a request becomes one of sim/ec2's, and how an answer is written. What a request changes, and what
// refuses it, is decided by sim/ec2 alone. It checks that a request is signed by a known access key, not its signature.
//
// Start at New; Server.API is EC2's endpoint, Server.Metadata one instance's metadata service. Requests are performed one
// at a time, at the time of Config.Now. Play makes answers go wrong: late, lost after the request was done, refused, or
// never. Requests counts what was asked, and Ask looks at the region between two requests. What the model does not know is refused with InvalidAction or UnsupportedOperation, never left out.
//
// To add a request, give sim/ec2 what it means, and this package its row in actions with the XML of its answer.
package endpoint
