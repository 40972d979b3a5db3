// Package audit says what is wrong with the addresses of a running Kubernetes cluster, whatever its CNI, from the
// objects that its API server shows: duplicates, addresses outside of their nodes' ranges, ranges that overlap, records
// of pods that are gone, nodes that will run out.
//
// It decides what the objects amount to. It reads no server and changes nothing: Objects come from JSON, as `kubectl
// get -o json` prints it or a server answers. Start at Objects.Parse, then Judge. Findings come in order of their
// severity, law and subject, and the same objects give the same findings.
//
// Ranges and records are read of Nodes (pod CIDRs), Calico's IPAMBlocks, CiliumNodes and NodeIDRecords; of a cluster
// that shows none of them only what needs none is judged, and Report.Unknown says so. To know another CNI, give
// reading.go its kind.
package audit
