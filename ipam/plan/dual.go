package plan

import (
	"errors"
	"slices"
)

// Dual is a cluster of two families: each has its ranges, and a node or a pod needs addresses of both.
type Dual struct{ First, Second Source }

// System implements Source.
func (s Dual) System() string { return s.First.System() }

// Draft implements Source: what fits is what fits in both.
func (s Dual) Draft(d *Draft, c Cluster) error {
	if s.First == nil || s.Second == nil {
		return errors.New("a family without a configuration")
	}
	for i, of := range []Source{s.First, s.Second} {
		one := &Draft{Plan: Plan{System: d.System, Reserved: []Reservation{}, Findings: []Finding{}}}
		if err := of.Draft(one, c); err != nil {
			return err
		}
		if i > 0 { // a limit that is no range's is the same one
			one.NodeLimits = slices.DeleteFunc(one.NodeLimits, func(l Limit) bool { return slices.Contains(d.NodeLimits, l) })
			one.PodLimits = slices.DeleteFunc(one.PodLimits, func(l Limit) bool { return slices.Contains(d.PodLimits, l) })
			one.Notes = slices.DeleteFunc(one.Notes, func(n string) bool { return slices.Contains(d.Notes, n) })
			one.Findings = slices.DeleteFunc(one.Findings, func(f Finding) bool { return slices.Contains(d.Findings, f) })
		}
		d.Ranges, d.Reserved, d.Notes, d.Findings = append(d.Ranges, one.Ranges...), append(d.Reserved, one.Reserved...), append(d.Notes, one.Notes...), append(d.Findings, one.Findings...)
		d.NodeLimits, d.PodLimits = append(d.NodeLimits, one.NodeLimits...), append(d.PodLimits, one.PodLimits...)
		if one.podsKnown && (!d.podsKnown || one.Pods < d.Pods) {
			d.podsKnown, d.Pods = true, one.Pods
		}
		if one.podsEach > 0 && (d.podsEach == 0 || one.podsEach < d.podsEach) {
			d.podsEach = one.podsEach
		}
		if one.pair != nil {
			d.pair = one.pair
		}
		if d.refusal == nil {
			d.refusal = one.refusal
		}
	}
	d.dual = true
	return nil
}
