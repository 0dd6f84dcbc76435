package import Market

extension RecordedGap {
    /// Creates a gap that is not in a recording's line.
    package init(at: Int64, gap: Gap) { self.init(line: 0, at: at, gap: gap) }
}
