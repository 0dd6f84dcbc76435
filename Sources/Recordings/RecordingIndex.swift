import Market
package import NIOCore
package import Wire

/// The contents of a recording, block by block: times, numbers, symbols, gaps.
///
/// A compressed file contains its index, as JSON in a frame that decompressors skip, so that the two cannot be
/// separated. For an uncompressed file the index is made by reading.
package struct RecordingIndex: Sendable, Equatable {
    package struct Block: Sendable, Equatable {
        /// Its offset in the decompressed text, and its length, in bytes.
        package var offset: Int64
        package var length: Int
        package var lines = 0
        /// The first line's number; `nil` without numbers.
        package var number: UInt64?
        /// The earliest and the latest time in it, ns since the file's start.
        package var at: ClosedRange<Int64>?
        /// The earliest and the latest wall clock in it, µs since 1970.
        package var wall: ClosedRange<Int64>?
        /// The indices in ``RecordingIndex/symbols`` of those that trade in it, ascending.
        package var symbols: [Int] = []
        /// The number of gaps, and of lines that report missing frames.
        package var gaps = 0
        /// The number of those that concern all symbols.
        package var breaks = 0
        /// The times of the first and the last message with trades, ns since the file's start.
        package var traded: ClosedRange<Int64>?
        /// The longest time between two such messages, ns.
        package var silence: Int64 = 0

        package init(offset: Int64, length: Int) {
            self.offset = offset
            self.length = length
        }

        /// The offset behind it in the text.
        var end: Int64 { self.offset + Int64(self.length) }
    }

    package var symbols: [String] = []
    package var blocks: [Block] = []
    /// The indices in ``symbols`` of those that came from each service, ascending; empty if all came from Finnhub, and in
    /// an index from before this was noted.
    package var services: [FrameDialect: [Int]] = [:]

    package init() {}

    /// The services by symbol, as far as they are noted.
    package var servicesBySymbol: [String: RecordedServices] {
        var found: [String: RecordedServices] = [:]
        for (dialect, places) in self.services {
            for place in places where self.symbols.indices.contains(place) {
                found[self.symbols[place], default: RecordedServices()].insert(dialect)
            }
        }
        return found
    }
}

/// The builder of an index.
package struct RecordingIndexer {
    package private(set) var index = RecordingIndex()
    private var reader = FrameReader()
    private var table = SymbolTable()
    private var trades: [Trade] = []
    private var seen: Set<Int> = []
    private var services: [FrameDialect: Set<Int>] = [:]

    package init() {}

    /// Adds the next block's text, which consists of whole lines.
    ///
    /// - Parameter header: the file's header, found in this block or an earlier one.
    package mutating func add(_ text: ByteBuffer, offset: Int64, header: inout RecordingHeader?) {
        var block = RecordingIndex.Block(offset: offset, length: text.readableBytes)
        var parser = header.map { RecordingParser(header: $0, offset: offset) } ?? RecordingParser()
        parser.feed(text)
        parser.finish()
        self.seen.removeAll(keepingCapacity: true)
        while let line = parser.nextLine() {
            block.lines += 1
            if block.number == nil { block.number = line.number }
            if let at = line.at { block.at = min(block.at?.lowerBound ?? at, at)...max(block.at?.upperBound ?? at, at) }
            if let wall = line.wall {
                block.wall = min(block.wall?.lowerBound ?? wall, wall)...max(block.wall?.upperBound ?? wall, wall)
            }
            switch line.content {
            case .header(let found): header = header ?? found
            case .frame(let bytes, _, let dialect):
                _ = self.reader.read(bytes, of: dialect, symbols: &self.table, into: &self.trades)
                if let at = line.at, !self.trades.isEmpty { block.traded(at: at) }
                for trade in self.trades {
                    self.seen.insert(Int(trade.symbol.index))
                    // An answer may have filled a gap of another service.
                    guard dialect.answering == nil else { continue }
                    self.services[dialect, default: []].insert(Int(trade.symbol.index))
                }
                self.trades.removeAll(keepingCapacity: true)
            case .gap(let gap, _):
                block.gaps += 1
                if gap.symbol == nil { block.breaks += 1 }
            case .note, .unknown, .damaged, .torn, .unreadable: break
            }
        }
        block.symbols = self.seen.sorted()
        self.index.symbols = self.table.names
        self.index.services =
            self.services.keys.allSatisfy { $0 == .finnhub } ? [:] : self.services.mapValues { $0.sorted() }
        self.index.blocks.append(block)
    }
}

extension RecordingIndex.Block {
    fileprivate mutating func traded(at: Int64) {
        guard let traded else {
            self.traded = at...at
            return
        }
        self.silence = max(self.silence, at.subtractingCapped(traded.upperBound))
        self.traded = min(traded.lowerBound, at)...max(traded.upperBound, at)
    }
}

extension RecordingIndex {
    /// Writes the index as JSON:
    /// `{"index":2,"symbols":[…],"dialects":{"binance":[…],…},"blocks":[{"offset":…,"length":…,"lines":…,"n":…,"mono":[…,…],
    /// "wall":[…,…],"symbols":[…],"gaps":…,"breaks":…,"traded":[…,…],"silence":…}],"crc":"…"}` and a newline, with the
    /// same seal as a recording's lines.
    func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeStaticString("{\"index\":2,\"symbols\":[")
        for (place, symbol) in self.symbols.enumerated() {
            if place > 0 { buffer.writeStaticString(",") }
            JSONText.escape(symbol, into: &buffer)
        }
        buffer.writeStaticString("]")
        if !self.services.isEmpty {
            let services = self.services.sorted { $0.key.rawValue < $1.key.rawValue }.map { dialect, places in
                "\"\(dialect.name)\":[\(places.map { "\($0)" }.joined(separator: ","))]"
            }
            buffer.writeString(",\"dialects\":{\(services.joined(separator: ","))}")
        }
        buffer.writeStaticString(",\"blocks\":[")
        for (place, block) in self.blocks.enumerated() {
            buffer.writeString(place > 0 ? ",{" : "{")
            buffer.writeString("\"offset\":\(block.offset),\"length\":\(block.length),\"lines\":\(block.lines)")
            if let number = block.number { buffer.writeString(",\"n\":\(number)") }
            if let at = block.at { buffer.writeString(",\"mono\":[\(at.lowerBound),\(at.upperBound)]") }
            if let wall = block.wall { buffer.writeString(",\"wall\":[\(wall.lowerBound),\(wall.upperBound)]") }
            buffer.writeString(",\"symbols\":[\(block.symbols.map { "\($0)" }.joined(separator: ","))]")
            buffer.writeString(",\"gaps\":\(block.gaps),\"breaks\":\(block.breaks)")
            if let traded = block.traded {
                buffer.writeString(",\"traded\":[\(traded.lowerBound),\(traded.upperBound)]")
            }
            buffer.writeString(",\"silence\":\(block.silence)}")
        }
        buffer.writeStaticString("]")
        LineSeal.write(into: &buffer, from: 0)
        return buffer
    }

    /// Reads an index; `nil` where the text is invalid, of another version, or has more than `limit` blocks.
    init?(_ bytes: UnsafeRawBufferPointer, blocks limit: Int) {
        guard bytes.last == UInt8(ascii: "\n"),
            case .intact = LineSeal.judge(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
        else { return nil }
        var isKnown = false
        let isWhole = JSONReader.wholeObject(bytes) { key, reader in
            if key.equals("index"), case .number = reader.kind() {
                isKnown = reader.integer() == 2
            } else if key.equals("symbols") {
                guard let names = reader.strings(atMost: SymbolTable.capacity) else { return false }
                self.symbols = names
            } else if key.equals("dialects") {
                return reader.object { key, reader in
                    guard let dialect = FrameDialect(name: key.text) else { return reader.skipValue() }
                    guard let places = Self.numbers(&reader, atMost: SymbolTable.capacity) else { return false }
                    self.services[dialect] = places.compactMap { Int(exactly: $0) }
                    return true
                }
            } else if key.equals("blocks") {
                guard let blocks = Self.blocks(&reader, atMost: limit) else { return false }
                self.blocks = blocks
            } else {
                return reader.skipValue()
            }
            return true
        }
        guard isWhole, isKnown else { return nil }
    }

    private static func blocks(_ reader: inout JSONReader, atMost limit: Int) -> [Block]? {
        guard reader.take(UInt8(ascii: "[")) else { return nil }
        if reader.take(UInt8(ascii: "]")) { return [] }
        var blocks: [Block] = []
        repeat {
            guard blocks.count < limit, let block = Self.block(&reader) else { return nil }
            blocks.append(block)
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]")) ? blocks : nil
    }

    private static func block(_ reader: inout JSONReader) -> Block? {
        var block = Block(offset: -1, length: -1)
        let isWhole = reader.object { key, reader in
            if key.equals("offset") {
                block.offset = reader.integer() ?? -1
            } else if key.equals("length") {
                block.length = reader.integer().flatMap { Int(exactly: $0) } ?? -1
            } else if key.equals("lines") {
                block.lines = reader.integer().flatMap { Int(exactly: $0) } ?? 0
            } else if key.equals("n") {
                block.number = reader.integer().flatMap { UInt64(exactly: $0) }
            } else if key.equals("mono") {
                guard let range = Self.range(&reader) else { return false }
                block.at = range
            } else if key.equals("wall") {
                guard let range = Self.range(&reader) else { return false }
                block.wall = range
            } else if key.equals("symbols") {
                guard let places = Self.numbers(&reader, atMost: SymbolTable.capacity) else { return false }
                block.symbols = places.compactMap { Int(exactly: $0) }
            } else if key.equals("gaps") {
                block.gaps = reader.integer().flatMap { Int(exactly: $0) } ?? 0
            } else if key.equals("breaks") {
                block.breaks = reader.integer().flatMap { Int(exactly: $0) } ?? .max
            } else if key.equals("traded") {
                guard let range = Self.range(&reader) else { return false }
                block.traded = range
            } else if key.equals("silence") {
                block.silence = reader.integer() ?? .max
            } else {
                return reader.skipValue()
            }
            return true
        }
        return isWhole && block.offset >= 0 && block.length >= 0 && block.lines >= 0 ? block : nil
    }

    private static func range(_ reader: inout JSONReader) -> ClosedRange<Int64>? {
        guard let numbers = Self.numbers(&reader, atMost: 2), numbers.count == 2, numbers[0] <= numbers[1] else {
            return nil
        }
        return numbers[0]...numbers[1]
    }

    private static func numbers(_ reader: inout JSONReader, atMost limit: Int) -> [Int64]? {
        guard reader.take(UInt8(ascii: "[")) else { return nil }
        if reader.take(UInt8(ascii: "]")) { return [] }
        var numbers: [Int64] = []
        repeat {
            guard numbers.count < limit, case .number = reader.kind(), let number = reader.integer() else { return nil }
            numbers.append(number)
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]")) ? numbers : nil
    }
}
