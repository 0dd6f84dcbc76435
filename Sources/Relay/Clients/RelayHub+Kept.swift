import Ingest
import Market
import Wire

/// What the relay keeps of the trades for its clients.
struct KeptTrades {
    /// The newest trades, for `/v1/trades` and for clients that resume.
    var ring: TradeRing
    /// The newest gap of all symbols. Before the first trade of an epoch it is what is missing behind the epoch before.
    var seam: Gap?
    /// The bars of all symbols.
    var bars = BarBook()
    var prices: PriceTable
    /// Both clocks at the newest batch with trades. From them the age of an arrival follows without a call of the wall
    /// clock.
    var lastArrival: (received: Int64, monotonic: Int64)?
}

/// A read without its frames, or prices that became due between two reads.
struct LateRead {
    var batch: TapeBatch?
    var updates: [PriceUpdate]
}

/// The reads that come while no client is connected, and no frames are kept for one that may resume. The relay keeps several together, which costs less than half of
/// keeping each as it comes. Each use of what the relay keeps finds the late reads in it.
extension RelayHub {
    /// The most reads that are late. More would save nothing.
    private static let mostLate = 16

    var ring: TradeRing {
        _read {
            self.takeLate()
            yield self.kept.ring
        }
        _modify {
            self.takeLate()
            yield &self.kept.ring
        }
    }

    var bars: BarBook {
        _read {
            self.takeLate()
            yield self.kept.bars
        }
        _modify {
            self.takeLate()
            yield &self.kept.bars
        }
    }

    var prices: PriceTable {
        _read {
            self.takeLate()
            yield self.kept.prices
        }
        _modify {
            self.takeLate()
            yield &self.kept.prices
        }
    }

    var lastArrival: (received: Int64, monotonic: Int64)? {
        get {
            self.takeLate()
            return self.kept.lastArrival
        }
        set {
            self.takeLate()
            self.kept.lastArrival = newValue
        }
    }

    /// Takes a read, or prices that became due between two, to be kept with the next ones.
    func keepLater(_ updates: [PriceUpdate], of batch: TapeBatch? = nil) {
        var read = LateRead(batch: batch, updates: updates)
        // The frames would keep the buffers of the reads.
        read.batch?.frames = []
        self.late.append(read)
        if self.late.count == Self.mostLate { self.takeLate() }
    }

    /// Keeps the late reads. Called before a session joins, so that no session gets what came before it.
    func takeLate() {
        guard !self.late.isEmpty else { return }
        var late: [LateRead] = []
        swap(&late, &self.late)
        for read in late {
            if let batch = read.batch { self.keep(batch) }
            _ = read.batch.map { self.prices.take($0, read.updates) } ?? self.prices.showings(read.updates)
        }
        _ = self.prices.takeAppeared()
        self.freeRowsOfEarlierEpochs()
        late.removeAll(keepingCapacity: true)
        swap(&late, &self.late)
    }
}
