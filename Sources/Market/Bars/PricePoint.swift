/// The prices and the volume of one short period, as a chart needs them: 56 bytes.
package struct PricePoint: Sendable, Equatable {
    /// The start of the period, ns.
    package var start: Int64
    /// The first price and the extremes, for drawing only.
    package var open: Double
    package var low: Double
    package var high: Double
    /// The last price, exact.
    package var close: ExactDecimal
    /// The sum of the sizes, for drawing only.
    package var volume: Double
    /// Whether trades may be missing for good between the previous point and this one.
    var lacksTrades: Bool
    /// Whether trades are missing there that have ids and may still come.
    var awaitsTrades = false
    /// Whether trades may be missing between the previous point and this one.
    package var followsGap: Bool { self.lacksTrades || self.awaitsTrades }
    /// Whether that gap lies behind the first price, within the period of this point.
    package private(set) var hasGapWithin = false
    /// Whether trades of the period itself may be missing, although no gap stands before this point: those before the
    /// first price of all, and those that an incomplete bar lacks.
    package var isIncomplete = false

    package init(start: Int64, price: ExactDecimal, volume: Double = 0, followsGap: Bool = false) {
        self.start = start
        self.open = price.approximation
        self.low = self.open
        self.high = self.open
        self.close = price
        self.volume = volume
        self.lacksTrades = followsGap
    }

    /// Merges the next point into this one.
    mutating func merge(_ next: PricePoint) {
        self.low = min(self.low, next.low)
        self.high = max(self.high, next.high)
        self.close = next.close
        self.volume += next.volume
        self.hasGapWithin = self.hasGapWithin || (next.followsGap && !self.followsGap)
        self.lacksTrades = self.lacksTrades || next.lacksTrades
        self.awaitsTrades = self.awaitsTrades || next.awaitsTrades
        self.isIncomplete = self.isIncomplete || next.isIncomplete
    }

    /// Adds a price, or a sum of sizes, that is older than the last price.
    mutating func mergeOlder(_ older: PricePoint) {
        self.low = min(self.low, older.low)
        self.high = max(self.high, older.high)
        self.volume += older.volume
    }
}

/// A bounded series of prices by periods of one width. When it is full, it either forgets the oldest or widens its
/// periods.
///
/// The points are stored in chunks, each in a separate array. A change after a copy therefore copies one chunk at most.
/// The newest point is stored outside of the chunks.
package struct PriceSeries: Sendable {
    static let chunk = 64

    /// The reaction when the series is full.
    package enum Limit: Sendable, Equatable {
        case forgetsOldest
        case widens
    }

    /// The widths that a series of hours takes, so that a day consists of whole points; ns.
    private static let roundWidths: [Int64] = [14_400_000_000_000, 86_400_000_000_000]

    /// The width of a period, ns.
    package private(set) var width: Int64
    private let capacity: Int
    private let limit: Limit
    /// All chunks except the last are full.
    private var chunks: [[PricePoint]] = []
    private var newest: PricePoint?

    /// - Precondition: `width` is above 0, `capacity` at least two chunks.
    package init(width: Int64, capacity: Int, limit: Limit) {
        precondition(width > 0 && capacity >= 2 * Self.chunk, "a series of \(capacity) points of \(width) ns")
        self.width = width
        self.capacity = capacity
        self.limit = limit
    }

    package var count: Int {
        guard let last = self.chunks.last else { return self.newest == nil ? 0 : 1 }
        return (self.chunks.count - 1) * Self.chunk + last.count + 1
    }

    package var first: PricePoint? { self.chunks.first?.first ?? self.newest }
    package var last: PricePoint? { self.newest }

    /// The points, oldest first.
    package subscript(index: Int) -> PricePoint {
        let (chunk, place) = index.quotientAndRemainder(dividingBy: Self.chunk)
        if chunk < self.chunks.count, place < self.chunks[chunk].count { return self.chunks[chunk][place] }
        guard let newest = self.newest, index == self.count - 1 else { preconditionFailure("no point \(index)") }
        return newest
    }

    /// Returns the index of the first point that begins at `time` or later.
    package func index(from time: Int64) -> Int { (0..<self.count).firstPlace { self[$0].start < time } }

    /// Adds a point of this series, or of a finer one. A time before the newest period counts in the newest period.
    mutating func take(_ point: PricePoint) {
        var point = point
        point.start = Self.floor(point.start, to: self.width)
        guard var newest = self.newest else {
            self.newest = point
            return
        }
        if point.start <= newest.start {
            newest.merge(point)
            self.newest = newest
            return
        }
        self.append(newest)
        self.newest = point
        if self.count > self.capacity { self.makeRoom() }
    }

    /// Adds a trade that is older than the newest price. Its period has its price among the extremes if it had others;
    /// a period without any stays empty, and the one before it has the volume.
    mutating func takeLate(_ point: PricePoint) {
        let place = self.index(from: point.start + 1) - 1
        guard place >= 0 else { return }
        var changed = self[place]
        if point.start - changed.start < self.width {
            changed.mergeOlder(point)
        } else {
            changed.volume += point.volume
        }
        let (chunk, index) = place.quotientAndRemainder(dividingBy: Self.chunk)
        if chunk < self.chunks.count, index < self.chunks[chunk].count {
            self.chunks[chunk][index] = changed
        } else {
            self.newest = changed
        }
    }

    /// Removes the points that begin at `time` or later.
    mutating func cut(from time: Int64) {
        guard let newest = self.newest, newest.start >= time else { return }
        self.newest = nil
        while var last = self.chunks.popLast() {
            while let point = last.last, point.start >= time { last.removeLast() }
            guard let point = last.popLast() else { continue }
            self.newest = point
            if !last.isEmpty { self.chunks.append(last) }
            return
        }
    }

    private mutating func append(_ point: PricePoint) {
        if let last = self.chunks.indices.last, self.chunks[last].count < Self.chunk {
            self.chunks[last].append(point)
        } else {
            var fresh: [PricePoint] = []
            fresh.reserveCapacity(Self.chunk)
            fresh.append(point)
            self.chunks.append(fresh)
        }
    }

    private mutating func makeRoom() {
        switch self.limit {
        case .forgetsOldest:
            self.chunks.removeFirst()
        case .widens:
            // Widths end at about 73 years, before doubling them could overflow.
            guard self.width < Int64.max / 4 else { return }
            let round = Self.roundWidths.first { $0 % self.width == 0 && 2...6 ~= $0 / self.width }
            self.width = round ?? self.width * 2
            self.replace(by: (0..<self.count).map { self[$0] })
        }
    }

    /// Replaces all points; those of one period become one.
    private mutating func replace(by points: [PricePoint]) {
        self.chunks = []
        self.newest = nil
        for point in points {
            var point = point
            point.start = Self.floor(point.start, to: self.width)
            if self.newest?.start == point.start {
                self.newest?.merge(point)
            } else {
                if let newest = self.newest { self.append(newest) }
                self.newest = point
            }
        }
    }

    /// Inserts the prices of a hole, oldest first, and lets the points decide anew whether trades are missing before
    /// them.
    ///
    /// - Parameters:
    ///   - end: the time of the first price after the hole: earlier points of its period precede the inserted ones.
    ///   - awaits: whether trades are still missing that precede a price of this period, ns.
    mutating func fill(_ filled: [PricePoint], upTo end: Int64, awaits: (Range<Int64>) -> Bool) {
        let last = Self.floor(end, to: self.width)
        var points: [PricePoint] = []
        points.reserveCapacity(self.count + filled.count)
        var rest = filled[...]
        for index in 0..<self.count {
            var point = self[index]
            while let next = rest.first, Self.floor(next.start, to: self.width) < point.start {
                points.append(next)
                rest.removeFirst()
            }
            if point.awaitsTrades { point.awaitsTrades = awaits(point.start..<point.start &+ self.width) }
            // In the period in which the hole ends its price is the older one.
            if point.start == last, let first = rest.first, Self.floor(first.start, to: self.width) == point.start {
                point.open = first.open
                while let next = rest.first, Self.floor(next.start, to: self.width) == point.start {
                    point.mergeOlder(next)
                    rest.removeFirst()
                }
            }
            points.append(point)
        }
        self.replace(by: points + rest)
        while self.count > self.capacity {
            let before = self.count
            self.makeRoom()
            if self.count >= before { break }
        }
    }

    private static func floor(_ time: Int64, to width: Int64) -> Int64 {
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: width)
        return (remainder < 0 ? quotient - 1 : quotient) * width
    }
}
