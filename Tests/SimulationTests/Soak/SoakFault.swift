import Market

/// A fault that happens at a moment.
enum SoakFault {
    /// A close frame with this code.
    case close(UInt16)
    case fin
    case reset
    /// Nothing passes any more, without a sign.
    case halfOpen
    /// The connection brings pings and pongs, and no trades.
    case muteConnection
    /// No connection brings any trades, ns.
    case muteFeed(Int64)
    case muteSymbol(Int, SoakConnection.Mute)
    /// The connection ends within a frame.
    case cutFrame(isReset: Bool)
    /// Bytes that are no WebSocket.
    case breach
    /// The connection ends, and for a time (ns) attempts meet this outage.
    case outage(SoakOutage, Int64)
    /// The connection ends, and for a time (ns) new ones open and end at once.
    case flapping(Int64)
    /// The connection ends, and for a time (ns) the symbol is refused; `isNamed`: whether the error names it.
    case invalidSymbol(Int, Int64, isNamed: Bool)
    case tooManySymbols(Int, Int64)
    /// The connection ends; the next one begins with a number of repeated trades of each symbol.
    case redelivery(Int)
    /// This machine sleeps, ns.
    case sleep(Int64, SoakSleep)
    /// The next message is sent three times.
    case triple
    /// A text that is not a message.
    case nonsense
    /// An error without a meaning.
    case error
}

extension SoakFault {
    /// How many handshakes it may cost: see ``SoakWorld/budget``. A silent symbol costs two, and one more during a
    /// cool-down.
    var handshakes: Double {
        func climb(_ nanoseconds: Int64) -> Double { 8 + Double(nanoseconds / SoakClock.second) / 15 }
        switch self {
        case .close, .fin, .reset, .halfOpen, .muteConnection, .muteSymbol, .cutFrame, .breach, .redelivery, .sleep:
            return 2
        case .invalidSymbol, .tooManySymbols: return 2
        case .outage(_, let time): return climb(time)
        case .flapping(let time): return 8 + Double(time / SoakClock.second) / 60
        case .muteFeed(let time): return 8 + Double(time / SoakClock.second) / 60
        case .triple, .nonsense, .error: return 0
        }
    }
}

/// An outage that connection attempts meet.
enum SoakOutage {
    /// No address, or no listener; each attempt takes this time, ns.
    case unreachable(Int64)
    case refused(status: Int, retryAfter: Int64?, String)
    /// No answer to the upgrade.
    case hangs
}

/// The fate of the connection while the machine sleeps.
enum SoakSleep {
    /// It stays open and delivers the bytes sent meanwhile.
    case delivers
    /// It stays open, and the bytes sent meanwhile are lost.
    case drops
    case freezes
    case resets
}

/// A plan of faults and their times.
struct SoakPlan {
    /// Wall clock, ns since 1970; in order.
    var faults: [(at: Int64, fault: SoakFault)] = []

    /// - Parameters:
    ///   - drops: the number of faults that cost a connection or its trades; `others` are added to them.
    ///   - span: the time over which they are spread, ns.
    init(seed: UInt64, drops: Int, others: Int, span: Int64) {
        var generator = SeededGenerator(seed: seed)
        for place in 0..<(drops + others) {
            let at = SoakClock.start + Int64.random(in: 600 * SoakClock.second...span, using: &generator)
            let fault = place < drops ? Self.drop(place, &generator) : Self.nuisance(place, &generator)
            self.faults.append((at, fault))
        }
        self.faults.sort { $0.at < $1.at }
    }

    /// All kinds in turn, so that each occurs in every plan.
    private static func drop(_ place: Int, _ generator: inout SeededGenerator) -> SoakFault {
        func seconds(_ range: ClosedRange<Int64>) -> Int64 {
            Int64.random(in: range, using: &generator) * SoakClock.second
        }
        func symbol() -> Int { Int.random(in: 0..<3, using: &generator) }
        switch place % 27 {
        case 0: return .close(1000)
        case 1: return .close(1001)
        case 2: return .close(1011)
        case 3: return .fin
        case 4: return .reset
        case 5, 6: return .halfOpen
        case 7, 8: return .muteConnection
        case 9: return .muteFeed(seconds(60...3_600))
        case 10: return .muteSymbol(symbol(), .untilAsked)
        case 11: return .muteSymbol(symbol(), .untilReconnected)
        case 12: return .cutFrame(isReset: false)
        case 13: return .cutFrame(isReset: true)
        case 14: return .breach
        case 15:
            return .outage(.refused(status: 429, retryAfter: nil, "Too Many Requests"), seconds(30...900))
        case 16:
            let retryAfter = Int64.random(in: 5...600, using: &generator)
            return .outage(.refused(status: 429, retryAfter: retryAfter, "Too Many Requests"), seconds(30...900))
        case 17: return .outage(.refused(status: 503, retryAfter: nil, "down"), seconds(10...1_200))
        case 18: return .outage(.refused(status: 200, retryAfter: nil, "<html>hello</html>"), seconds(10...600))
        case 19: return .outage(.refused(status: 302, retryAfter: nil, ""), seconds(10...600))
        case 20: return .outage(.unreachable(seconds(0...5)), seconds(60...3_600))
        case 21: return .outage(.hangs, seconds(10...300))
        case 22: return .flapping(seconds(10...600))
        case 23: return .invalidSymbol(symbol(), seconds(60...2_700), isNamed: Bool.random(using: &generator))
        case 24: return .tooManySymbols(symbol(), seconds(10...1_200))
        case 25: return .redelivery(Int.random(in: 2...20, using: &generator))
        default:
            let kinds: [SoakSleep] = [.delivers, .drops, .freezes, .resets]
            let kind = kinds[Int.random(in: 0..<4, using: &generator)]
            return .sleep(seconds(30...7_200), kind)
        }
    }

    private static func nuisance(_ place: Int, _ generator: inout SeededGenerator) -> SoakFault {
        switch place % 3 {
        case 0: .triple
        case 1: .nonsense
        default: .error
        }
    }
}
