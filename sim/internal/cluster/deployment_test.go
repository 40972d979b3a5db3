package cluster

import "strconv"

// Deployment is a number of equal pods that are replaced when they go.
type Deployment struct {
	// Namespace defaults to "default"; Name is the deployment's and its pods' App.
	Namespace, Name string
	Replicas        int
	MaxPerNode      int
	Requests        string
}

// deployment creates pods "<name>-<i>" with i from 0, never the same name twice, as a ReplicaSet does not either.
type deployment struct {
	w *crowd
	Deployment
	replicas int
	serial   int
	active   int // pods that exist and are not being deleted
	pods     map[Key]bool
	order    []Key
	due      bool
}

// Deploy creates a deployment, or changes the size of the one with that namespace and name. A smaller size deletes the
// newest pods.
func (w *crowd) Deploy(spec Deployment) {
	if spec.Namespace == "" {
		spec.Namespace = "default"
	}
	for _, d := range w.deployments {
		if d.Namespace == spec.Namespace && d.Name == spec.Name {
			d.replicas, d.MaxPerNode, d.Requests = spec.Replicas, spec.MaxPerNode, spec.Requests
			d.wake()
			return
		}
	}
	d := &deployment{w: w, Deployment: spec, replicas: spec.Replicas, pods: make(map[Key]bool)}
	w.deployments = append(w.deployments, d)
	d.wake()
}

// wake schedules a look at the deployment.
func (d *deployment) wake() {
	if !d.due {
		d.due = true
		d.w.clock.After(0, (*deploymentStep)(d))
	}
}

// observe counts the deployment's pods.
func (d *deployment) observe(old, now Object) {
	before, after := d.counts(old), d.counts(now)
	if before == after {
		return
	}
	if after {
		d.active++
	} else {
		d.active--
		d.wake()
	}
	if now == nil {
		delete(d.pods, old.Common().Key())
	}
}

// counts reports that o is one of the pods and is to stay.
func (d *deployment) counts(o Object) bool {
	p, ok := o.(*Pod)
	return ok && !p.Deleting && p.App == d.Name && d.pods[p.Key()]
}

type deploymentStep deployment

func (s *deploymentStep) AppendText(b []byte) []byte {
	b = append(b, "workload deployment "...)
	b = Key{s.Namespace, s.Name}.AppendText(b)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(s.active), 10)
	b = append(b, " of "...)
	return strconv.AppendInt(b, int64(s.replicas), 10)
}

func (s *deploymentStep) Fire() {
	d := (*deployment)(s)
	d.due = false
	d.w.api.WhenAvailable(d.reconcile)
}

func (d *deployment) reconcile() {
	for d.active < d.replicas {
		name := d.Name + "-" + strconv.Itoa(d.serial)
		d.serial++
		key := Key{d.Namespace, name}
		d.pods[key] = true
		d.order = append(d.order, key)
		before := d.active
		d.w.Create(PodSpec{Namespace: d.Namespace, Name: name, App: d.Name, MaxPerNode: d.MaxPerNode, Requests: d.Requests})
		if d.active == before {
			delete(d.pods, key) // somebody else's pod has the name
			d.order = d.order[:len(d.order)-1]
		}
	}
	for i := len(d.order) - 1; i >= 0 && d.active > d.replicas; i-- {
		if p, ok := d.w.api.Pod(d.order[i]); ok && d.counts(p) {
			d.w.Delete(d.order[i])
		}
	}
	kept := d.order[:0]
	for _, key := range d.order {
		if p, ok := d.w.api.Pod(key); ok && !p.Deleting {
			kept = append(kept, key)
		} else if !ok {
			delete(d.pods, key)
		}
	}
	d.order = kept
}
