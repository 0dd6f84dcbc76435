import Foundation

/// The output of a program so far, with an index of its lines.
struct PrintedText: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The offsets after each line feed.
    private var ends: [Int] = []

    /// The number of complete lines.
    var lineCount: Int { self.ends.count }

    var text: String { String(decoding: self.bytes, as: UTF8.self) }

    mutating func add(_ data: Data) {
        let start = self.bytes.count
        self.bytes.append(contentsOf: data)
        self.bytes.withUnsafeBytes { bytes in
            var place = start
            while let end = memchr(bytes.baseAddress! + place, 10, bytes.count - place) {
                place = bytes.baseAddress!.distance(to: UnsafeRawPointer(end)) + 1
                self.ends.append(place)
                if place == bytes.count { break }
            }
        }
    }

    /// Returns a complete line without its line feed.
    func line(_ index: Int) -> ArraySlice<UInt8> {
        self.bytes[(index == 0 ? 0 : self.ends[index - 1])..<self.ends[index] - 1]
    }

    /// Returns whether `text` occurs at or after an offset.
    func contains(_ text: [UInt8], from place: Int) -> Bool {
        guard let first = text.first else { return true }
        return self.bytes.withUnsafeBytes { bytes in
            var start = place
            while start + text.count <= bytes.count {
                let rest = bytes.baseAddress! + start
                guard let found = memchr(rest, Int32(first), bytes.count - text.count - start + 1) else { return false }
                if memcmp(found, text, text.count) == 0 { return true }
                start += rest.distance(to: UnsafeRawPointer(found)) + 1
            }
            return false
        }
    }
}
