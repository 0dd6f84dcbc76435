import Market
import Wire

/// The lines of one run written so far, so that a line in several recordings is written once.
///
/// Frames are identified by the numbers of their trades, which are the run's own, whatever its lines were renumbered
/// to. Other lines are identified by content and time.
struct WrittenLines {
    /// How many stretches of trades are kept; beyond that the oldest are forgotten.
    private static let maximumStretches = 1 << 16
    /// How many other lines of one µs are kept.
    private static let maximumLines = 256
    /// How many gaps are kept, whatever their time.
    private static let maximumGaps = 64

    private struct Known {
        var content: RecordedLine.Content
        /// How often it was written, and how often each input had it.
        var written = 0
        var seen: [Int: Int] = [:]
    }

    /// The numbers of written trades, ascending.
    private var stretches: [Range<UInt64>] = []
    private var moment: Int64 = .min
    private var known: [Known] = []
    private var gaps: [(content: RecordedLine.Content, input: Int)] = []

    /// Takes a line of an input; returns whether it was written before.
    mutating func take(_ line: RecordedLine, at wall: Int64, from input: Int) -> Bool {
        if let numbers = line.sequences { return !self.insert(numbers) }
        // Where a recording was cut within a gap, the gap stands at the end of one part, and later in the other.
        if case .gap = line.content {
            if self.gaps.contains(where: { $0.input != input && $0.content == line.content }) { return true }
            self.gaps.append((line.content, input))
            if self.gaps.count > Self.maximumGaps { self.gaps.removeFirst() }
        }
        if wall / 1_000 != self.moment {
            self.moment = wall / 1_000
            self.known.removeAll(keepingCapacity: true)
        }
        let place: Int
        if let found = self.known.firstIndex(where: { $0.content == line.content }) {
            place = found
        } else {
            guard self.known.count < Self.maximumLines else { return false }
            place = self.known.count
            self.known.append(Known(content: line.content))
        }
        self.known[place].seen[input, default: 0] += 1
        // An input may itself have the same line several times.
        guard self.known[place].seen[input, default: 0] > self.known[place].written else { return true }
        self.known[place].written += 1
        return false
    }

    /// Whether a written stretch begins at or before this number and ends at or behind it.
    func reaches(_ number: UInt64) -> Bool {
        let place = self.place(of: number)
        return place > 0 && number <= self.stretches[place - 1].upperBound
    }

    /// Returns how many stretches begin at or before a number.
    private func place(of number: UInt64) -> Int {
        if let last = self.stretches.last, last.lowerBound <= number { return self.stretches.count }
        return self.stretches.firstPlace { $0.lowerBound <= number }
    }

    /// Adds a stretch; returns whether any of its numbers is new.
    private mutating func insert(_ numbers: Range<UInt64>) -> Bool {
        var place = self.place(of: numbers.lowerBound)
        if place > 0, self.stretches[place - 1].upperBound >= numbers.upperBound { return false }
        if place > 0, self.stretches[place - 1].upperBound >= numbers.lowerBound {
            place -= 1
            self.stretches[place] = self.stretches[place].lowerBound..<numbers.upperBound
        } else {
            self.stretches.insert(numbers, at: place)
        }
        // Joins the following stretches that it reaches.
        while place + 1 < self.stretches.count, self.stretches[place + 1].lowerBound <= self.stretches[place].upperBound
        {
            let end = max(self.stretches[place].upperBound, self.stretches[place + 1].upperBound)
            self.stretches[place] = self.stretches[place].lowerBound..<end
            self.stretches.remove(at: place + 1)
        }
        if self.stretches.count > Self.maximumStretches { self.stretches.removeFirst(Self.maximumStretches / 2) }
        return true
    }
}
