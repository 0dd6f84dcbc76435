import Market
import Wire

/// The faults of one run and their times, all of them by the seed.
package struct Schedule: Sendable {
    /// The choice of faults. A schedule of few kinds shows what many would hide.
    enum Theme: String, Sendable, CaseIterable {
        /// Planned rotations and nothing else: no gap, no repeat on the tape and no REST call may follow.
        case rotations
        /// Cuts and outages of the connection.
        case cuts
        /// Trades that come late, twice, in another order or not at all.
        case order
        /// Cuts, and faults of the REST service.
        case service
        /// Kills of the program, with cuts.
        case kills
        /// Faults while Binance's hosts for market data are in use.
        case vision
        case everything
    }

    /// Which of Binance's hosts answer.
    enum Hosts: Sendable {
        case first
        /// The first ones refuse the location (HTTP 451).
        case second
        /// Both do; faults of the REST service are those of the first one.
        case both
    }

    /// The ages of connections, ns.
    struct Age: Sendable, Equatable {
        /// When the program opens a second connection, and by how much chance delays that.
        var program: Int64
        var jitter: Int64
        /// When the venue ends the connection.
        var venue: Int64

        /// Binance's, and the program's own settings.
        static let ofBinance = Age(
            program: 84_600_000_000_000,
            jitter: 600_000_000_000,
            venue: 86_400_000_000_000
        )
    }

    /// How the venue's frames are divided into reads.
    enum Reads: Sendable, Equatable {
        case frames
        /// Frames within this time, ns, are one read.
        case joined(Int64)
        /// Frames come in pieces of this many bytes.
        case pieces(Int)
    }

    package let seed: UInt64
    let theme: Theme
    let reads: Reads
    /// How much older than the live feed the answers of the REST service are, and how long they take, ns.
    let lag: Int64
    let latency: Int64
    let faults: [(at: Int64, fault: Fault)]
    var hosts: Hosts
    /// The age at which the venue ends connections; `nil` if it ends none by age.
    var age: Age?

    /// Whether the program has a recorder.
    var isRecorded: Bool {
        self.seed.isMultiple(of: 8) || self.faults.contains { if case .kill = $0.fault { true } else { false } }
    }

    /// Makes a schedule without a fault, in which the venue ends connections by their age.
    init(seed: UInt64, age: Age) {
        self.seed = seed
        self.theme = .rotations
        self.reads = .frames
        self.lag = 0
        self.latency = 100_000_000
        self.faults = []
        self.hosts = .first
        self.age = age
    }

    /// Makes the schedule of a seed.
    ///
    /// - Parameters:
    ///   - span: the time within which faults happen, ns.
    ///   - crowd: when more trades of one time begin than an answer of the REST service has; `nil` for none.
    init(seed: UInt64, venue: Venue, span: Int64, crowd: Int64? = nil) {
        self.seed = seed
        var chance = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 1)
        let themes: [Theme] =
            venue == .binance
            ? [.rotations, .cuts, .cuts, .order, .service, .service, .kills, .everything, .everything, .everything]
            : [.cuts, .cuts, .order, .service, .service, .kills, .everything, .everything]
        var theme = themes[Int.random(in: 0..<themes.count, using: &chance)]
        // What was added later has a generator of its own, so that the rest of a seed's schedule stays.
        var more = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 2)
        let isVision = Int.random(in: 0..<8, using: &more) == 0 && venue == .binance && theme != .rotations
        if isVision { theme = .vision }
        self.hosts = !isVision ? .first : Bool.random(using: &more) ? .second : .both
        let ages = Int.random(in: 0..<(theme == .rotations ? 2 : 6), using: &more) == 0
        self.age = ages && venue == .binance ? Self.age(&more) : nil
        let isByAgeAlone = theme == .rotations && self.age != nil && Bool.random(using: &more)
        self.theme = theme
        switch Int.random(in: 0..<4, using: &chance) {
        case 0: self.reads = .joined(Int64.random(in: 100_000...20_000_000, using: &chance))
        case 1: self.reads = .pieces(Int.random(in: 20...200, using: &chance))
        default: self.reads = .frames
        }
        self.lag = Int64.random(in: 0...500_000_000, using: &chance)
        self.latency = Int64.random(in: 20_000_000...200_000_000, using: &chance)
        let count = theme == .rotations ? Int.random(in: 1...5, using: &chance) : Int.random(in: 3...24, using: &chance)
        var faults: [(at: Int64, fault: Fault)] = []
        for _ in 0..<(isByAgeAlone ? 0 : count) {
            let at = Int64.random(in: 2_000_000_000...max(span, 3_000_000_000), using: &chance)
            faults.append((at, Self.fault(theme, venue: venue, &chance)))
            // A fault of the REST service matters while something is missing.
            if case .rest = faults[faults.count - 1].fault {
                let cut = Int64.random(in: 0...1_000_000_000, using: &chance)
                faults.append((at + cut, .cut(.reset)))
            }
        }
        if let crowd, Int.random(in: 0..<3, using: &more) == 0 {
            faults.append((crowd - 1_000_000_000, .outage(.unreachable, Self.time(1.5...4, &more))))
        }
        self.faults = faults.sorted { $0.at < $1.at }
    }

    /// Draws ages that are as far from each other as Binance's are in proportion, or farther.
    private static func age(_ chance: inout SeededGenerator) -> Age {
        let program = Self.time(30...120, &chance)
        return Age(program: program, jitter: program / 20, venue: program / 20 * 21 + 15_000_000_000)
    }

    private static func fault(_ theme: Theme, venue: Venue, _ chance: inout SeededGenerator) -> Fault {
        let dice = Int.random(in: 0..<100, using: &chance)
        switch theme {
        case .rotations: return Self.rotation(&chance)
        case .cuts: return dice < 60 ? Self.cut(&chance) : dice < 80 ? Self.outage(&chance) : Self.pause(&chance)
        case .order: return dice < 90 ? Self.order(&chance) : Self.cut(&chance)
        case .service: return dice < 70 ? Self.rest(venue, &chance) : Self.cut(&chance)
        case .kills: return dice < 40 ? Self.kill(&chance) : dice < 80 ? Self.cut(&chance) : Self.order(&chance)
        case .vision:
            switch dice {
            case ..<40: return Self.cut(&chance)
            case ..<50: return Self.outage(&chance)
            case ..<75: return Self.order(&chance)
            case ..<92: return Self.rest(venue, &chance)
            default: return Self.kill(&chance)
            }
        case .everything:
            switch dice {
            case ..<20: return Self.cut(&chance)
            case ..<30: return Self.outage(&chance)
            case ..<40: return Self.pause(&chance)
            case ..<70: return Self.order(&chance)
            case ..<85: return Self.rest(venue, &chance)
            case ..<92: return venue == .binance ? Self.rotation(&chance) : Self.cut(&chance)
            default: return Self.kill(&chance)
            }
        }
    }

    private static func time(_ seconds: ClosedRange<Double>, _ chance: inout SeededGenerator) -> Int64 {
        Int64(Double.random(in: seconds, using: &chance) * 1e9)
    }

    private static func cut(_ chance: inout SeededGenerator) -> Fault {
        switch Int.random(in: 0..<4, using: &chance) {
        case 0: .cut(.fin)
        case 1: .cut(.reset)
        case 2: .cut(.close([1_000, 1_001, 1_006, 1_011, 1_012][Int.random(in: 0..<5, using: &chance)]))
        default: .cut(.midFrame)
        }
    }

    private static func outage(_ chance: inout SeededGenerator) -> Fault {
        let length = Self.time(0.5...40, &chance)
        switch Int.random(in: 0..<4, using: &chance) {
        case 0: return .outage(.unreachable, length)
        case 1: return .outage(.down, length)
        case 2: return .outage(.tooMany(retryAfter: Self.time(1...30, &chance)), length)
        default: return .outage(.hangs, length)
        }
    }

    private static func pause(_ chance: inout SeededGenerator) -> Fault {
        Bool.random(using: &chance) ? .stall(Self.time(0.1...25, &chance)) : .freeze
    }

    private static func order(_ chance: inout SeededGenerator) -> Fault {
        switch Int.random(in: 0..<5, using: &chance) {
        case 0: .repeats(Int.random(in: 1...200, using: &chance))
        case 1: .reorder(Int.random(in: 2...50, using: &chance))
        case 2: .withhold(Int.random(in: 1...300, using: &chance), .late(Self.time(0.01...20, &chance)))
        case 3: .withhold(Int.random(in: 1...3_000, using: &chance), .restOnly)
        default: .withhold(Int.random(in: 1...50, using: &chance), .never)
        }
    }

    private static func rest(_ venue: Venue, _ chance: inout SeededGenerator) -> Fault {
        let length = Self.time(1...60, &chance)
        switch Int.random(in: 0..<11, using: &chance) {
        case 0: return .rest(.tooMany(retryAfter: Self.time(1...60, &chance)), length)
        case 1: return .rest(.banned(retryAfter: Self.time(10...120, &chance)), length)
        case 2: return .rest(.down, length)
        // The page of a captive portal may stay for minutes.
        case 3: return .rest(.html, length * 4)
        case 4: return .rest(.forbidden, length)
        case 5: return .rest(.cutAnswer, length)
        case 6: return .rest(.unreachable, length)
        case 7: return .rest(.silent, length)
        case 8: return .rest(.slow(Self.time(0.5...9, &chance)), length)
        case 9: return .rest(.lag(Self.time(1...20, &chance)), length)
        // One trade of Coinbase's is always the one after those that are missing.
        default: return .rest(.short(Int.random(in: venue == .coinbase ? 2...200 : 1...200, using: &chance)), length)
        }
    }

    private static func rotation(_ chance: inout SeededGenerator) -> Fault { .rotation(Self.time(5...60, &chance)) }

    private static func kill(_ chance: inout SeededGenerator) -> Fault { .kill(Self.time(0.1...30, &chance)) }
}

extension Schedule: CustomStringConvertible {
    package var description: String {
        var lines = [
            "seed \(self.seed): \(self.theme.rawValue), reads \(self.reads), REST \(self.lag / 1_000_000) ms old"
        ]
        if self.hosts != .first { lines.append("  hosts: \(self.hosts)") }
        if let age { lines.append("  connections end after \(Self.seconds(age.venue)) s") }
        for (at, fault) in self.faults { lines.append("  at \(Self.seconds(at)) s \(fault)") }
        return lines.joined(separator: "\n")
    }

    /// A time in seconds with its milliseconds.
    static func seconds(_ nanoseconds: Int64) -> String {
        let ms = nanoseconds / 1_000_000
        return "\(ms / 1_000).\(ms % 1_000 / 100)\(ms % 100 / 10)\(ms % 10)"
    }
}
