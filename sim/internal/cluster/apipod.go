package cluster

import "net/netip"

// Bind binds a pod to a node. ErrConflict when it is bound or being deleted, or is another pod than uid.
func (a *API) Bind(key Key, uid, node string) error {
	return a.patchPod(key, uid, func(p *Pod) error {
		if p.Node != "" || p.Deleting {
			return ErrConflict
		}
		p.Node = node
		return nil
	})
}

// SetPodStatus sets phase and addresses, second that of the second family. It is a patch: the pod's version does not matter, its UID does, and one that
// changes nothing makes no new version.
func (a *API) SetPodStatus(key Key, uid string, phase Phase, ip, second netip.Addr) error {
	if p, ok := a.Pod(key); ok && !a.down && (uid == "" || p.UID == uid) && p.Phase == phase && p.IP == ip && p.Second == second {
		return nil
	}
	return a.patchPod(key, uid, func(p *Pod) error {
		p.Phase, p.IP, p.Second = phase, ip, second
		return nil
	})
}

// DeletePod starts a pod's graceful deletion, which its kubelet completes. A pod that is bound nowhere goes at once. A
// pod that is being deleted stays so: no change, no error.
func (a *API) DeletePod(key Key, uid string) error {
	old, ok := a.Pod(key)
	switch {
	case a.down:
		return ErrUnavailable
	case ok && (uid == "" || old.UID == uid) && old.Node == "":
		return a.Delete(KindPod, key, uid)
	case ok && old.Deleting && (uid == "" || old.UID == uid):
		return nil
	}
	return a.patchPod(key, uid, func(p *Pod) error {
		p.Deleting = true
		return nil
	})
}

func (a *API) patchPod(key Key, uid string, patch func(*Pod) error) error {
	if a.down {
		return ErrUnavailable
	}
	old, ok := a.Pod(key)
	switch {
	case !ok:
		return ErrNotFound
	case uid != "" && old.UID != uid:
		return ErrConflict
	}
	p := *old
	if err := patch(&p); err != nil {
		return err
	}
	a.store(old, &p)
	return nil
}
