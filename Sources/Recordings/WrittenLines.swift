import Wire

/// What of one run has been written, so that what several recordings have is there once.
///
/// Frames are known by the numbers of their trades, which are of the run whatever became of its lines; other lines by what
/// they say and when.
struct WrittenLines {
    /// More stretches of trades are not remembered: the oldest are forgotten.
    private static let maximumStretches = 1 << 16
    /// So many other lines of one moment are remembered.
    private static let maximumLines = 256
    /// So many gaps, whenever they were.
    private static let maximumGaps = 64

    private struct Known {
        var content: RecordedLine.Content
        /// How often it was written, and how often each input had it.
        var written = 0
        var seen: [Int: Int] = [:]
    }

    /// The numbers of trades, ascending.
    private var stretches: [Range<UInt64>] = []
    private var moment: Int64 = .min
    private var known: [Known] = []
    private var gaps: [(content: RecordedLine.Content, input: Int)] = []

    /// Takes a line of an input; returns whether it was written before.
    mutating func take(_ line: RecordedLine, at wall: Int64, from input: Int) -> Bool {
        if let numbers = line.sequences { return !self.insert(numbers) }
        // Where a recording was cut in two within a gap, it stands at the end of the one piece, and later in the other.
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
        // An input may have the same line several times itself.
        guard self.known[place].seen[input, default: 0] > self.known[place].written else { return true }
        self.known[place].written += 1
        return false
    }

    /// Whether all trades of a stretch that ends before this one are written, or this one is.
    func reaches(_ number: UInt64) -> Bool {
        let place = self.place(of: number)
        return place > 0 && number <= self.stretches[place - 1].upperBound
    }

    /// How many stretches begin at a number or before it.
    private func place(of number: UInt64) -> Int {
        if let last = self.stretches.last, last.lowerBound <= number { return self.stretches.count }
        var (low, high) = (0, self.stretches.count)
        while low < high {
            let middle = low + (high - low) / 2
            if self.stretches[middle].lowerBound <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Adds a stretch; returns whether anything of it is new.
    private mutating func insert(_ numbers: Range<UInt64>) -> Bool {
        var place = self.place(of: numbers.lowerBound)
        if place > 0, self.stretches[place - 1].upperBound >= numbers.upperBound { return false }
        if place > 0, self.stretches[place - 1].upperBound >= numbers.lowerBound {
            place -= 1
            self.stretches[place] = self.stretches[place].lowerBound..<numbers.upperBound
        } else {
            self.stretches.insert(numbers, at: place)
        }
        // Those behind it that it reaches are one with it.
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
