// Package audit says what is wrong with the addresses of a running Kubernetes cluster, whatever its CNI, from the
// objects that its API server shows: duplicates, addresses that the CNI's records call free or give to others, ranges
// that overlap, records of what is gone, nodes that will run out.
//
// It decides who has the say in the cluster, and what the objects amount to. It reads no server and changes nothing:
// Objects come from JSON, as `kubectl get -o json` prints it or a server answers, in any order; an object that comes
// again replaces the former. Start at Objects.Read, then Judge. Findings come in order of their severity, law and
// subject, and the same objects give the same findings.
//
// A range or a record counts where its source is in use: where running pods have addresses by it (choose.go). So pod
// CIDRs that no CNI uses are no errors, and what a former CNI left hides nothing. What cannot be judged is in
// Report.Unknown with the command that gets what is missing; kinds that nobody knows are counted in Report.Unread.
//
// To know another CNI, give it a file beside calico.go, rows of kinds.go's readers, and a row of system.go. A law is a
// method of judge in the file that is about it, its constant in finding.go with why, and a story in testdata/stories.
package audit
