package surrogate

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// otherRegions are other names of autonomous communities.
var otherRegions = strings.Split("Catalunya, Andalusia, Aragó, Castella i Lleó, Castella-la Manxa, Euskadi, Comunitat Valenciana, Madrid Comunidad, Balears, Murcia Región", ", ")

// onlyProvinces are the communities of one province.
var onlyProvinces = []string{"Asturias", "Illes Balears", "Cantabria", "Comunidad de Madrid", "La Rioja", "Navarra", "Región de Murcia",
	"Ceuta", "Melilla"}

var (
	provinceOf = map[string]string{} // of a folded province, or a town in a community of one
	regionOf   = map[string]string{} // of a folded town or province
	regions    = map[string]bool{}   // folded
)

var readRegions = sync.OnceFunc(func() {
	region := ""
	for line := range lines("lists/regions.txt") {
		if name, ok := strings.CutPrefix(line, "= "); ok {
			provinces := ""
			region, provinces, _ = strings.Cut(name, ": ")
			regions[folded(region)] = true
			for p := range strings.SplitSeq(provinces, ", ") {
				regionOf[folded(p)], provinceOf[folded(p)] = region, p
			}
			continue
		}
		if slices.Contains(onlyProvinces, region) {
			provinceOf[folded(line)] = region
		}
		if f := folded(line); regionOf[f] == "" {
			regionOf[f] = region
		}
	}
	province := ""
	for line := range lines("lists/provinces.txt") {
		if name, ok := strings.CutPrefix(line, "= "); ok {
			province = name
		} else if f := folded(line); provinceOf[f] == "" { // a province is called as its capital is
			provinceOf[f] = province
		}
	}
	for _, name := range otherRegions {
		regions[folded(name)] = true
	}
	delete(regionOf, "")
	delete(provinceOf, "")
})

// place appends a value as the maps of places have it, and nothing if it is no place.
func place(dst, value []byte) []byte {
	readRegions()
	if len(value) > 60 || !utf8.Valid(value) {
		return dst
	}
	return gazetteer.Fold(dst, value)
}

// Province returns the Spanish province that a place is or lies in; false if it is unknown.
func Province(value []byte) (string, bool) {
	var buf [120]byte
	name, ok := provinceOf[string(place(buf[:0], value))]
	return name, ok
}

// Region returns the larger area that contains a place (BOOT §2.2.2): the autonomous community of a Spanish town or
// province, and Spain for a community. It returns false if the lists do not know the place or know two of that name.
func Region(value []byte) (string, bool) {
	var buf [120]byte
	f := place(buf[:0], value)
	if regions[string(f)] {
		return "España", true
	}
	region, ok := regionOf[string(f)]
	return region, ok
}
