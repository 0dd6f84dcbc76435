import NIOCore
import Platform
import Wire

/// The list of an exchange's symbols on disk, so that the service is asked once a day.
///
/// The program works without it: an unreadable file counts as missing, and after a failed write the list is requested
/// again.
package struct SymbolListFile: Sendable {
    /// A list as the service sent it, and the time of the request.
    struct Kept: Sendable, Equatable {
        var body: ByteBuffer
        /// Wall clock, ns since 1970.
        var fetched: Int64
    }

    /// The largest file that is read, in bytes; a little more than the largest accepted answer.
    private static let limit = (16 << 20) + 1_024
    /// The start of the first line, which identifies the format. The line's digest detects a partial file.
    private static let mark = "tickertape symbols 1"

    private let directory: String
    private let name: String
    private let disk = WorkQueue("symbol-list")

    /// - Parameters:
    ///   - directory: a private folder of this user; created if it is missing.
    ///   - service: the service that the list is from, without its key.
    package init(directory: String, exchange: String, service: UpstreamAddress) {
        self.directory = directory
        // A digest makes a valid file name of any exchange, and keeps two services apart.
        let place = "\(service.authority)\(service.path) \(exchange.uppercased())"
        self.name = "symbols-\(String(Self.digest(place.utf8), radix: 16)).json"
    }

    /// Reads the kept list; `nil` if it is missing or damaged.
    func read() async -> Kept? { await self.disk.answer { self.readNow() } ?? nil }

    private func readNow() -> Kept? {
        guard let folder = try? PrivateFolder(self.directory),
            let text = try? folder.read(self.name, limit: Self.limit),
            let end = text.utf8.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = text[..<end].split(separator: " ")
        let body = text[text.index(after: end)...]
        guard text.hasPrefix(Self.mark + " "), words.count == 5, let fetched = Int64(words[3]), fetched >= 0,
            UInt64(words[4], radix: 16) == Self.digest(body.utf8)
        else { return nil }
        return Kept(body: ByteBuffer(substring: body), fetched: fetched)
    }

    /// Replaces the kept list atomically; returns the reason if that fails.
    func write(_ kept: Kept) async -> String? {
        await self.disk.answer { self.writeNow(kept) } ?? "the disk does not answer"
    }

    private func writeNow(_ kept: Kept) -> String? {
        let text = String(buffer: kept.body)
        do throws(PrivateFolder.Failure) {
            let folder = try PrivateFolder(self.directory)
            let digest = String(Self.digest(text.utf8), radix: 16)
            try folder.replace(self.name, with: "\(Self.mark) \(kept.fetched) \(digest)\n\(text)")
            return nil
        } catch {
            return error.reason
        }
    }

    /// FNV-1a with 64 bits. It detects a bad disk or a torn write, and does not protect against an attacker.
    private static func digest(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}
