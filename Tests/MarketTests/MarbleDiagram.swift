import Market

/// A marble diagram: the input or output of a conflator, one character for each 10 ms.
///
/// `-` is 10 ms without an event, a letter is a value at that time, `(AB)` is several values at one time, and `|` is
/// the end, where the conflator is flushed.
struct MarbleDiagram: Equatable, CustomStringConvertible {
    /// The width of a character, 10 ms in ns.
    static let tick: Int64 = 10_000_000

    /// The values by their tick, and the tick of the end.
    var moments: [Int: [Character]] = [:]
    var end: Int?

    init() {}

    init(_ line: String) {
        var tick = 0
        var isGroup = false
        for character in line {
            switch character {
            case "(": isGroup = true
            case ")":
                isGroup = false
                tick += 1
            case "|": self.end = tick
            case "-": tick += 1
            default:
                self.moments[tick, default: []].append(character)
                if !isGroup { tick += 1 }
            }
        }
    }

    var description: String {
        let last = self.end ?? self.moments.keys.max() ?? 0
        var line = ""
        for tick in 0...last {
            let values = String(self.moments[tick] ?? [])
            switch values.count {
            case 0: line += tick == self.end ? "" : "-"
            case 1: line += values
            default: line += "(\(values))"
            }
        }
        return line + (self.end == nil ? "" : "|")
    }

    /// Returns a conflator's output for this line, and what each emission left out.
    ///
    /// The timer fires exactly at each deadline, or `late` ticks after it.
    func conflated(quiet: Int64, atMost: Int64?, late: Int = 0) -> (line: MarbleDiagram, skipped: [UInt64]) {
        var conflator = Conflator<Character>(quiet: quiet * Self.tick, atMost: atMost.map { $0 * Self.tick })
        var line = MarbleDiagram()
        var skipped: [UInt64] = []
        func show(_ emission: Conflator<Character>.Emission?, at tick: Int) {
            guard let emission else { return }
            line.moments[tick, default: []].append(emission.value)
            skipped.append(emission.skipped)
        }
        let end = self.end ?? self.moments.keys.max() ?? 0
        for tick in 0...end {
            let now = Int64(tick) * Self.tick
            if let deadline = conflator.deadline, now >= deadline + Int64(late) * Self.tick {
                show(conflator.fire(now: now), at: tick)
            }
            for value in self.moments[tick] ?? [] { show(conflator.take(value, now: now), at: tick) }
        }
        if self.end != nil { show(conflator.flush(), at: end) }
        line.end = self.end
        return (line, skipped)
    }
}
