import NIOCore

/// A frame as a peer might send it, valid or not.
struct Frame {
    var first: UInt8
    var payload: [UInt8]
    var mask: [UInt8]?

    static func text(_ text: String, final: Bool = true, mask: [UInt8]? = nil) -> Frame {
        Frame(first: (final ? 0x80 : 0) | 0x1, payload: Array(text.utf8), mask: mask)
    }

    static func binary(_ payload: [UInt8], final: Bool = true, mask: [UInt8]? = nil) -> Frame {
        Frame(first: (final ? 0x80 : 0) | 0x2, payload: payload, mask: mask)
    }

    static func continuation(_ payload: [UInt8], final: Bool, mask: [UInt8]? = nil) -> Frame {
        Frame(first: final ? 0x80 : 0, payload: payload, mask: mask)
    }

    static func close(_ code: UInt16?, _ reason: String = "", mask: [UInt8]? = nil) -> Frame {
        let bytes = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
        return Frame(first: 0x88, payload: bytes + Array(reason.utf8), mask: mask)
    }

    static func ping(_ payload: [UInt8] = [], mask: [UInt8]? = nil) -> Frame {
        Frame(first: 0x89, payload: payload, mask: mask)
    }

    static func pong(_ payload: [UInt8] = [], mask: [UInt8]? = nil) -> Frame {
        Frame(first: 0x8A, payload: payload, mask: mask)
    }

    var bytes: [UInt8] {
        let maskBit: UInt8 = self.mask == nil ? 0 : 0x80
        var bytes = [self.first]
        switch self.payload.count {
        case ...125:
            bytes.append(maskBit | UInt8(self.payload.count))
        case ...0xFFFF:
            bytes += [maskBit | 126, UInt8(self.payload.count >> 8), UInt8(self.payload.count & 0xFF)]
        default:
            bytes.append(maskBit | 127)
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: self.payload.count >> ($0 * 8)) }
        }
        guard let mask = self.mask else { return bytes + self.payload }
        return bytes + mask + self.payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    /// Parses the frames of a side that keeps the rules, and removes their masks; `nil` when the bytes are not whole
    /// frames.
    static func parse(_ bytes: [UInt8]) -> [Frame]? {
        var frames: [Frame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 2 else { return nil }
            let first = rest.removeFirst()
            let second = rest.removeFirst()
            var length = Int(second & 0x7F)
            let extra = length == 126 ? 2 : length == 127 ? 8 : 0
            guard rest.count >= extra else { return nil }
            if extra > 0 { length = rest.prefix(extra).reduce(0) { $0 << 8 | Int($1) } }
            rest = rest.dropFirst(extra)
            var mask: [UInt8]?
            if second & 0x80 != 0 {
                guard rest.count >= 4 else { return nil }
                mask = Array(rest.prefix(4))
                rest = rest.dropFirst(4)
            }
            guard rest.count >= length else { return nil }
            let payload = rest.prefix(length).enumerated().map { $1 ^ (mask?[$0 % 4] ?? 0) }
            rest = rest.dropFirst(length)
            frames.append(Frame(first: first, payload: payload, mask: mask))
        }
        return frames
    }
}

let anyMask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
