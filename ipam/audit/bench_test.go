package audit

import (
	"bufio"
	"fmt"
	"io"
	"testing"
)

// BenchmarkAudit reads and judges clusters of 30 pods a node, in the text that cases of large clusters come in. The time
// of a pod stays what it is while clusters grow.
func BenchmarkAudit(b *testing.B) {
	for _, nodes := range []int{1000, 5000, 20000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var o Objects
				r, w := io.Pipe()
				go writeCluster(w, nodes, 30)
				if err := o.Read("cluster", r); err != nil {
					b.Fatal(err)
				}
				if r := Judge(&o); len(r.Findings) > 0 || r.Pods != 30*nodes {
					b.Fatal(told(r, true))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*30*nodes), "ns/pod")
		})
	}
}

// writeCluster writes a list of nodes with a pod CIDR each, and of pods with addresses of it.
func writeCluster(out *io.PipeWriter, nodes, pods int) {
	w := bufio.NewWriter(out)
	fmt.Fprint(w, `{"kind": "List", "items": [`)
	for n := range nodes {
		if n > 0 {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, `{"kind": "Node", "metadata": {"name": "n-%d"}, "spec": {"podCIDR": "10.%d.%d.0/24"}, "status": {"allocatable": {"pods": "110"}, "addresses": [{"type": "InternalIP", "address": "172.16.%d.%d"}]}}`,
			n, n/256, n%256, n/250, n%250+1)
		for p := range pods {
			fmt.Fprintf(w, `, {"kind": "Pod", "metadata": {"namespace": "d", "name": "p-%d-%d"}, "spec": {"nodeName": "n-%d"}, "status": {"phase": "Running", "podIP": "10.%d.%d.%d"}}`,
				n, p, n, n/256, n%256, p+2)
		}
	}
	fmt.Fprint(w, `]}`)
	_ = out.CloseWithError(w.Flush()) // the reader has it
}
