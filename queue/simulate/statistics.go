package simulate

import "math"

// quadratic returns surplus' covariance⁻¹ surplus, and the rank. Surpluses add
// up to nothing, so at least one of them is left out, and others that cannot
// vary.
func quadratic(surplus [cohorts]float64, covariance [cohorts][cohorts]float64) (value float64, rank int) {
	var root [cohorts][]float64 // Cholesky, over what is not left out
	var solved []float64
	for i := range cohorts {
		row := make([]float64, 0, cohorts)
		pivot, rest := covariance[i][i], surplus[i]
		k := 0
		for j := range i {
			if root[j] == nil {
				continue
			}
			x := covariance[i][j]
			for l := range k {
				x -= row[l] * root[j][l]
			}
			x /= root[j][k]
			row = append(row, x)
			pivot -= x * x
			rest -= x * solved[k]
			k++
		}
		if pivot <= 1e-6*(covariance[i][i]+1e-6) {
			continue
		}
		root[i] = append(row, math.Sqrt(pivot))
		solved = append(solved, rest/math.Sqrt(pivot))
		value += rest * rest / pivot
	}
	return value, len(solved)
}

// chiSquareTail is the probability that chi-square with so many degrees of
// freedom is at least x: the upper regularised gamma function Q(freedom/2, x/2),
// by its series or its continued fraction.
func chiSquareTail(x float64, freedom int) float64 {
	if x <= 0 || freedom == 0 {
		return 1
	}
	a, x := float64(freedom)/2, x/2
	gamma, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - gamma)
	if x < a+1 {
		term, sum := 1/a, 1/a
		for n := a + 1; term > sum*1e-15; n++ {
			term *= x / n
			sum += term
		}
		return max(0, 1-front*sum)
	}
	// Lentz's method.
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1.0; i < 10_000; i++ {
		an := -i * (i - a)
		b += 2
		d = 1 / nonzero(an*d+b, tiny)
		c = nonzero(b+an/c, tiny)
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return front * h
}

func nonzero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
