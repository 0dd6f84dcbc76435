extension String {
    /// Returns the most similar name, at most three edits away; `nil` if no name is that close.
    package func nearest(in names: some Collection<String>) -> String? {
        guard self.utf8.count <= 80 else { return nil }
        let ranked = names.map { (name: $0, distance: self.edits(to: $0)) }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        guard let ranked, ranked.distance <= Swift.min(3, self.utf8.count / 2) else { return nil }
        return ranked.name
    }

    /// Returns how many bytes must be inserted, removed or changed to turn this into `other` (the Levenshtein
    /// distance).
    private func edits(to other: String) -> Int {
        let other = Array(other.utf8)
        var row = Array(0...other.count)
        for (line, byte) in self.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in other.indices {
                let change = diagonal + (byte == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(change, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}
