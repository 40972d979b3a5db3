// Package removal tells what a call takes away from a VPP or a Linux host.
//
// OfVPP and OfLinux read a request: which thing it deletes, or may put something else in the place of. They see what is sent,
// not what somebody meant by it, so that a wrong encoding shows. A world that can look at its machines at any time (the
// simulator) asks a Look before and after the call and gets the difference; one that cannot names interfaces by a Names that
// has followed the conversation and goes by VPP's answer.
//
// It never decides whether a removal is right: that is the law stays-wired in scenarios/check. It performs no call and keeps
// nothing but what a Names was told. What a call creates is not its affair.
//
// To add a kind of thing: its Removed in scenarios, its messages in vpp.go or linux.go, and what it looks like in look.go.
package removal
