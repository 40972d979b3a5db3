// Package apiserver is a small Kubernetes API server in one process, for labs and tests: objects of any kind with
// resourceVersions, UIDs, preconditions, patches, lists, and watches over a history that can be forgotten.
//
// It knows no admission, no rights, no schema and no garbage collection, and keeps everything in memory. What it says
// about preconditions follows k8s.io/apiserver 0.36, registry/generic/registry/store.go: first the resourceVersion
// (409), then validation, UID and pod CIDRs among it (422). Names are resource/namespace/name, as "nodes//node-1";
// resources are told apart by their plural alone, whatever their group.
//
// Start at New, which is an http.Handler. All methods may be called from any goroutine. Requests are served one at a
// time, in the order in which they take the lock. To serve a kind whose lists need another kind or version than v1's,
// add it to kindOf.
package apiserver
