import Market

/// A made-up market of one symbol as its venue sends it and as Finnhub does, with faults of Finnhub's whose number is
/// known. A part of the trades equal their neighbours.
package struct AuditedMarket {
    /// What Finnhub does to a trade.
    package enum Fault: Sendable, CaseIterable {
        case lost, doubled, delayed, altered
    }

    package struct Item: Sendable {
        /// The venue's id; `nil` on Finnhub's side.
        package var id: UInt64?
        /// The exchange's time, ms since 1970.
        package var time: Int64
        /// In cents, and in ten-thousandths.
        package var price: Int64
        package var size: Int64
        /// When it arrived, ns since 1970.
        package var arrival: Int64

        package var priceText: String { Self.text(self.price, 2) }
        package var sizeText: String { Self.text(self.size, 4) }

        private static func text(_ number: Int64, _ decimals: Int) -> String {
            ExactDecimal(significand: number, exponent: -decimals)?.description ?? ""
        }
    }

    /// In the order of arrival.
    package private(set) var venue: [Item] = []
    package private(set) var finnhub: [Item] = []
    /// The ids of the trades with each fault.
    package private(set) var faults: [Fault: Set<UInt64>] = [:]
    /// The ids of the trades that Finnhub sent after one with a later id and another time, price or size.
    package let overtaken: Set<UInt64>

    /// - Parameters:
    ///   - share: how many of 1,000 trades have a fault, which is one of `kinds`.
    ///   - equalShare: how many of 100 trades equal the one before.
    ///   - delay: the time in which Finnhub's trades arrive after the venue's, ns.
    package init(
        seed: UInt64,
        count: Int,
        share: Int,
        kinds: [Fault] = Fault.allCases,
        equalShare: Int = 15,
        delay: ClosedRange<Int64> = 40_000_000...90_000_000
    ) {
        var random = SeededGenerator(seed: seed)
        var item = Item(id: 3_735_683_259, time: 1_723_161_255_342, price: 6_183_763, size: 200, arrival: 0)
        var faultOfGroup: [[Int64]: Fault] = [:]
        for place in 0..<count {
            if Int.random(in: 0..<100, using: &random) >= equalShare {
                item.time += Int64.random(in: equalShare == 0 ? 1..<100 : 0..<100, using: &random)
                item.price += Int64.random(in: -3...3, using: &random)
                item.size = Int64.random(in: 1...20, using: &random) * 20
            }
            // A venue sends its trades in the order of their ids.
            let sent = item.time * 1_000_000 + Int64.random(in: 3_000_000...6_000_000, using: &random)
            item.arrival = max(item.arrival, sent)
            self.venue.append(item)
            var own = item
            own.arrival = item.arrival + Int64.random(in: delay, using: &random)
            // The ends of the compared time are those of the trades that came.
            let isInside = place > 20 && place < count - 200
            let group = [item.time, item.price, item.size]
            var fault: Fault?
            if isInside, Int.random(in: 0..<1_000, using: &random) < share {
                let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
                // A trade that is lost cannot be told from its equal that came twice.
                if faultOfGroup[group, default: kind] == kind { fault = kind }
            }
            if let fault {
                faultOfGroup[group] = fault
                self.faults[fault, default: []].insert(item.id ?? 0)
            }
            switch fault {
            case .lost: break
            case .doubled:
                self.finnhub.append(own)
                own.arrival += Int64.random(in: 0...5_000_000_000, using: &random)
                self.finnhub.append(own)
            case .delayed:
                own.arrival += Int64.random(in: 200_000_000...2_000_000_000, using: &random)
                self.finnhub.append(own)
            case .altered:
                own.price += 100_000
                self.finnhub.append(own)
            case nil: self.finnhub.append(own)
            }
            item.id = (item.id ?? 0) + 1
        }
        // The sort is stable for the trades that arrive together.
        self.venue = Self.sorted(self.venue)
        self.finnhub = Self.sorted(self.finnhub)
        self.overtaken = Self.overtaken(self.finnhub)
        for place in self.finnhub.indices { self.finnhub[place].id = nil }
    }

    private static func overtaken(_ items: [Item]) -> Set<UInt64> {
        var latest: [[Int64]: UInt64] = [:]
        var overtaken: Set<UInt64> = []
        var seen: Set<UInt64> = []
        for item in items {
            let content = [item.time, item.price, item.size]
            let id = item.id ?? 0
            guard seen.insert(id).inserted else { continue }
            if latest.contains(where: { $0.key != content && $0.value > id }) { overtaken.insert(id) }
            latest[content] = max(latest[content] ?? 0, id)
            // No trade is delayed by so many others.
            if latest.count > 2_000 { latest = latest.filter { $0.value + 1_000 > id } }
        }
        return overtaken
    }

    private static func sorted(_ items: [Item]) -> [Item] {
        items.enumerated().sorted { ($0.element.arrival, $0.offset) < ($1.element.arrival, $1.offset) }.map(\.element)
    }

    /// All trades of both sides in the order of their arrival.
    package var all: [Item] { Self.sorted(self.venue + self.finnhub) }

    package func count(_ fault: Fault) -> Int { self.faults[fault]?.count ?? 0 }

    /// The venue's side as a recording in the plain form, in Binance's frames.
    package var venueRecording: String { self.venueLines.map(\.text).joined() }

    /// Finnhub's side as a recording in the plain form, with up to ten trades in a frame.
    package var finnhubRecording: String { self.finnhubLines.map(\.text).joined() }

    /// Both sides as one recording.
    package var recording: String {
        (self.venueLines + self.finnhubLines).enumerated()
            .sorted { ($0.element.arrival, $0.offset) < ($1.element.arrival, $1.offset) }
            .map(\.element.text).joined()
    }

    private var venueLines: [(arrival: Int64, text: String)] {
        self.venue.map { item in
            let frame =
                #"{"stream":"btcusdt@trade","data":{"e":"trade","E":\#(item.time + 1),"s":"BTCUSDT","t":\#(item.id ?? 0),"#
                + #""p":"\#(item.priceText)","q":"\#(item.sizeText)","T":\#(item.time),"m":true,"M":true}}"#
            return (item.arrival, self.line(item.arrival, frame))
        }
    }

    private var finnhubLines: [(arrival: Int64, text: String)] {
        stride(from: 0, to: self.finnhub.count, by: 10).map { first in
            let items = self.finnhub[first..<min(first + 10, self.finnhub.count)]
            let trades = items.map {
                #"{"c":null,"p":\#($0.priceText),"s":"BINANCE:BTCUSDT","t":\#($0.time),"v":\#($0.sizeText)}"#
            }
            let frame = #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#
            let arrival = items.last?.arrival ?? 0
            return (arrival, self.line(arrival, frame))
        }
    }

    private func line(_ arrival: Int64, _ frame: String) -> String {
        let quoted = frame.replacing("\"", with: "\\\"")
        return "{\"at\":\(arrival - (self.venue.first?.arrival ?? 0)),\"frame\":\"\(quoted)\"}\n"
    }
}
