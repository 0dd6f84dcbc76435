package import Market

extension RecordedGap {
    /// A gap that was made, and stands in no line.
    package init(at: Int64, gap: Gap) { self.init(line: 0, at: at, gap: gap) }
}
