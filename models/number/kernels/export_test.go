package kernels

// ForcePortable switches to the plain Go code (true), or back to the fastest that this machine has (false), and returns what was in
// force before. It must not be called while kernels run.
func ForcePortable(force bool) (was bool) {
	was = portable
	portable = force || !simdAvailable
	return was
}
