package calico

import "errors"

// Config is what a cluster's IPAMConfig says of all pools.
type Config struct {
	// Strict is strictAffinity: no host gets an address of another's block.
	Strict bool
	// AutoAllocate is autoAllocateBlocks: hosts claim blocks by themselves.
	AutoAllocate bool
	// MaxBlocks is maxBlocksPerHost; 0 is DefaultMaxBlocks.
	MaxBlocks int
}

// DefaultConfig is that of a cluster without an IPAMConfig.
func DefaultConfig() Config { return Config{AutoAllocate: true} }

// errNowhere: hosts may neither claim blocks nor borrow addresses.
var errNowhere = errors.New("strictAffinity: false with autoAllocateBlocks: false has no host claim a block, and Calico refuses it: set one of them to true")

// Configured are the pools as a configuration says. It fails, and changes nothing, where Calico refuses the configuration.
func (p Pools) Configured(c Config) (Pools, error) {
	switch {
	case !c.Strict && !c.AutoAllocate:
		return p, errNowhere
	case c.MaxBlocks < 0:
		return p, errors.New("maxBlocksPerHost is negative")
	case c.MaxBlocks == 0:
		c.MaxBlocks = DefaultMaxBlocks
	}
	p.Strict, p.Fixed, p.MaxBlocks = c.Strict, !c.AutoAllocate, c.MaxBlocks
	return p, nil
}
