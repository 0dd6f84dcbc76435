import CChecksum
package import NIOCore

/// The CRC-32C (Castagnoli; RFC 3720, B.4) that protects each line of a recording.
package enum Checksum32C {
    /// Returns the checksum of bytes that follow others with the checksum `start`; 0 where none precede them.
    package static func of(_ bytes: UnsafeRawBufferPointer, after start: UInt32 = 0) -> UInt32 {
        tickertape_crc32c(start, bytes.baseAddress, bytes.count)
    }
}

/// The end of a sealed line: `,"crc":"9ae0daaf"}`, 18 bytes, whose eight digits are the CRC-32C of everything before
/// it.
package enum LineSeal {
    /// Its length, in bytes.
    package static let length = 18

    /// The result of a check: `none` where the line has no seal.
    package enum Verdict { case intact, broken, none }

    /// Checks a line without its newline.
    @inline(__always)
    package static func judge(_ line: UnsafeRawBufferPointer) -> Verdict {
        guard line.count > Self.length else { return .none }
        let body = line.count - Self.length
        guard line.loadUnaligned(fromByteOffset: body, as: UInt64.self) == Self.opening,
            line.loadUnaligned(fromByteOffset: body + 16, as: UInt16.self) == Self.closing
        else { return .none }
        var stated: UInt32 = 0
        for index in body + 8..<body + 16 {
            guard let digit = Self.digit(line[index]) else { return .broken }
            stated = stated << 4 | UInt32(digit)
        }
        return Checksum32C.of(UnsafeRawBufferPointer(rebasing: line[..<body])) == stated ? .intact : .broken
    }

    /// Writes the seal of the bytes in `buffer` from `start` on, and the newline.
    package static func write(into buffer: inout ByteBuffer, from start: Int) {
        let checksum = buffer.withUnsafeReadableBytes { bytes in
            Checksum32C.of(UnsafeRawBufferPointer(rebasing: bytes[(start - buffer.readerIndex)...]))
        }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.length + 1) { bytes in
            bytes.storeBytes(of: Self.opening, as: UInt64.self)
            let digits: StaticString = "0123456789abcdef"
            for place in 0..<8 { bytes[8 + place] = digits.utf8Start[Int(checksum >> UInt32(28 - 4 * place)) & 15] }
            bytes.storeBytes(of: Self.closing, toByteOffset: 16, as: UInt16.self)
            bytes[18] = UInt8(ascii: "\n")
            return Self.length + 1
        }
    }

    /// The bytes of `,"crc":"` and of `"}`, in memory order.
    private static let opening = UInt64(littleEndian: 0x22_3A_22_63_72_63_22_2C)
    private static let closing = UInt16(littleEndian: 0x7D_22)

    /// Returns a digit's value. Only lower-case letters count, so that every line has one form.
    @inline(__always)
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
