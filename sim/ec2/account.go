package ec2

import "time"

// Account is an AWS account in one region: EC2 throttles the requests of all its instances together, by a token bucket
// (EC2 API reference, "Request throttling for the Amazon EC2 API").
type Account struct {
	rate, burst, tokens float64
	filled              time.Time
}

// NewAccount returns an account with a full bucket: rate requests per second in the long run, burst at once, both above
// 0.
func NewAccount(now time.Time, rate, burst float64) *Account {
	return &Account{rate: rate, burst: burst, tokens: burst, filled: now}
}

func (a *Account) take(now time.Time) bool {
	if now.After(a.filled) {
		a.tokens = min(a.tokens+now.Sub(a.filled).Seconds()*a.rate, a.burst)
		a.filled = now
	}
	if a.tokens < 1 {
		return false
	}
	a.tokens--
	return true
}
