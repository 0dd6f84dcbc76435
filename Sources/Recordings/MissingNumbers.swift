/// The numbers of lines that have not arrived, so that a line out of order is not counted as missing. Only the newest
/// stretches are kept.
struct MissingNumbers {
    /// How many stretches are kept.
    private static let most = 256

    private var stretches: [Range<UInt64>] = []

    /// Records that numbers were passed over.
    mutating func add(_ numbers: Range<UInt64>) {
        guard !numbers.isEmpty else { return }
        self.stretches.append(numbers)
        if self.stretches.count > Self.most { self.stretches.removeFirst() }
    }

    /// Takes a number that arrived late; returns whether it was recorded as missing.
    mutating func take(_ number: UInt64) -> Bool {
        guard let place = self.stretches.lastIndex(where: { $0.contains(number) }) else { return false }
        let span = self.stretches.remove(at: place)
        let rest = [span.lowerBound..<number, number + 1..<span.upperBound].filter { !$0.isEmpty }
        self.stretches.insert(contentsOf: rest, at: place)
        if self.stretches.count > Self.most { self.stretches.removeFirst() }
        return true
    }
}
