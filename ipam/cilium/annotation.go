package cilium

// DefaultPool is the pool of pods that name none.
const DefaultPool = "default"

// PoolAnnotation names a pod's pool, on the pod or on its namespace.
const PoolAnnotation = "ipam.cilium.io/ip-pool"

// PoolFor is the pool of a pod: its own annotation's, else its namespace's, else the default one.
func PoolFor(pod, namespace map[string]string) string {
	for _, annotations := range [...]map[string]string{pod, namespace} {
		if name := annotations[PoolAnnotation]; name != "" {
			return name
		}
	}
	return DefaultPool
}
