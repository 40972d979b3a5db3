// Package aws performs ipamd's calls at the real EC2 and the instance metadata service, by AWS' own SDK.
//
// It decides nothing about addresses: which calls are made, and what follows from an answer, is package ipam/datastore's.
// Its opposite is sim/ec2/endpoint, which answers the same requests.
//
// Start at Connect and Client.Do. Region, credentials and endpoints come from where all AWS programs look for them: the
// environment, the shared files, the instance's role. They are written nowhere.
//
// The SDK repeats nothing by itself: most requests that change something are not idempotent, and the Manager asks EC2 what
// became of one whose answer was lost. Only what EC2 answers before it knows of its own last answer is asked again here.
// An error of EC2's own says that it refused and did nothing; failures of its servers and lost answers say nothing.
//
// To add a call, give Do a case.
package aws
