import Glibc

/// The names of a recording's files: `btc.jsonl`, `btc-0002.jsonl`, `btc-0003.jsonl`…, with `.zst` appended once
/// compressed.
package struct SegmentNames: Sendable, Equatable {
    /// The suffix of a compressed file's name.
    package static let packedSuffix = ".zst"

    /// One existing file.
    package struct Segment: Sendable, Equatable {
        /// Its number, from 1.
        package var place: Int
        package var path: String
        package var isPacked: Bool
        /// Its size in bytes.
        package var size: Int64
        /// The time of its last change, wall clock, ns since 1970.
        package var changed: Int64

        /// Inspects a file; `nil` where it does not exist, or is not a regular file.
        package init?(_ path: String, place: Int, isPacked: Bool) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            self.place = place
            self.path = path
            self.isPacked = isPacked
            self.size = Int64(status.st_size)
            self.changed = Self.moment(status.st_mtim)
        }

        /// Returns a file's time in ns since 1970, limited to about 120 years around 1970: a file may have any time,
        /// and ages are computed from it.
        private static func moment(_ time: timespec) -> Int64 {
            Int64(min(max(time.tv_sec, -4_000_000_000), 4_000_000_000)) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }

    /// The folder, without a slash at its end.
    package let folder: String
    private let stem: String
    private let suffix: String

    /// - Parameter path: the first segment's, compressed or not.
    package init(first path: String) {
        let end = path.lastIndex(of: "/")
        self.folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        var name = end.map { path[path.index(after: $0)...] } ?? path[...]
        if name.hasSuffix(Self.packedSuffix) { name = name.dropLast(Self.packedSuffix.count) }
        if let dot = name.lastIndex(of: "."), dot != name.startIndex {
            self.stem = String(name[..<dot])
            self.suffix = String(name[dot...])
        } else {
            self.stem = String(name)
            self.suffix = ""
        }
    }

    /// The name of an uncompressed segment, from 1.
    package func name(_ place: Int) -> String {
        guard place > 1 else { return self.stem + self.suffix }
        let digits = "\(place)"
        let zeros = String(repeating: "0", count: max(0, 4 - digits.utf8.count))
        return "\(self.stem)-\(zeros)\(digits)\(self.suffix)"
    }

    /// The path of an uncompressed segment, from 1.
    package func path(_ place: Int) -> String { self.path(of: self.name(place)) }

    private func path(of name: String) -> String {
        switch self.folder {
        case "/": "/\(name)"
        case ".": name
        default: "\(self.folder)/\(name)"
        }
    }

    /// Returns the number of the segment with this name, and whether the name is that of a compressed file; `nil` for
    /// any other file.
    package func place(of name: String) -> (place: Int, isPacked: Bool)? {
        var plain = name[...]
        let isPacked = plain.hasSuffix(Self.packedSuffix)
        if isPacked { plain = plain.dropLast(Self.packedSuffix.count) }
        if plain == self.name(1) { return (1, isPacked) }
        guard plain.hasPrefix("\(self.stem)-"), plain.hasSuffix(self.suffix),
            plain.utf8.count > self.stem.utf8.count + 1 + self.suffix.utf8.count
        else { return nil }
        let digits = plain.dropFirst(self.stem.count + 1).dropLast(self.suffix.count)
        guard let place = Int(digits), place > 1, self.name(place) == plain else { return nil }
        return (place, isPacked)
    }

    /// Returns the first segment's path, given a later one's; `nil` for any other.
    package static func first(of path: String) -> String? {
        let names = SegmentNames(first: path)
        guard let dash = names.stem.lastIndex(of: "-") else { return nil }
        let digits = names.stem[names.stem.index(after: dash)...]
        let first = SegmentNames(first: names.path(of: String(names.stem[..<dash]) + names.suffix))
        guard let place = Int(digits), place > 1, first.name(place) == names.name(1) else { return nil }
        return first.path(1)
    }

    /// Returns the path under which a file exists now: this one, or the one it got by compression.
    package static func present(_ path: String) -> String {
        let packed = path + Self.packedSuffix
        return access(path, F_OK) != 0 && access(packed, F_OK) == 0 ? packed : path
    }

    /// Returns the existing segments, in order; of one that exists in both forms, the uncompressed file.
    package func all() -> [Segment] {
        var found: [Int: Segment] = [:]
        for name in Self.names(in: self.folder) {
            guard let (place, isPacked) = self.place(of: name) else { continue }
            if isPacked, found[place] != nil { continue }
            if let segment = Segment(self.path(of: name), place: place, isPacked: isPacked) { found[place] = segment }
        }
        return found.values.sorted { $0.place < $1.place }
    }

    /// Returns the segments to which retention applies together: all timed ones in the folder, where the recording's
    /// name has the time in it; otherwise ``all()``.
    package func family() -> [Segment] {
        guard Self.isTimed(self.stem) else { return self.all() }
        var stems: Set<String> = []
        for name in Self.names(in: self.folder) where Self.isTimed(name) {
            var stem = name[...]
            if stem.hasSuffix(Self.packedSuffix) { stem = stem.dropLast(Self.packedSuffix.count) }
            guard stem.hasSuffix(self.suffix) else { continue }
            // `tickertape-20261121T053102Z`, whatever follows.
            stems.insert(String(stem.prefix(Self.timedLength)))
        }
        return stems.sorted().flatMap { stem in
            let names = SegmentNames(first: self.path(of: stem + self.suffix))
            return names.all()
        }
    }

    private static let timedPrefix = "tickertape-"
    private static let timedLength = timedPrefix.utf8.count + 16

    /// Whether a name begins like the names that `tickertape record` chooses.
    private static func isTimed(_ name: String) -> Bool {
        let bytes = Array(name.utf8.prefix(Self.timedLength))
        guard bytes.count == Self.timedLength, name.hasPrefix(Self.timedPrefix) else { return false }
        return zip(bytes.dropFirst(Self.timedPrefix.utf8.count), "00000000T000000Z".utf8).allSatisfy { byte, form in
            form == UInt8(ascii: "0") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == form
        }
    }

    /// Returns the first number behind all that are taken, by a file of any kind.
    package func firstFree() -> Int {
        (Self.names(in: self.folder).compactMap { self.place(of: $0)?.place }.max() ?? 0) + 1
    }

    /// Returns the names of a folder's entries; empty where the folder cannot be read.
    package static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }
}
