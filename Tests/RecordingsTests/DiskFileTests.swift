import Glibc
import NIOCore
import Testing
@testable import Recordings

@Suite("Files that cannot be read")
struct DiskFileTests {
    private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// Opens this process's own memory as a file: reading an unmapped page fails, as reading a bad place of a disk
    /// does.
    private func withBadPlace(_ body: (_ file: DiskFile, _ bad: Int64) throws -> Void) throws {
        let page = Self.page
        let memory = try #require(
            mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        )
        try #require(memory != MAP_FAILED)
        memset(memory, 0x41, 2 * page)
        munmap(memory + page, page)
        defer { munmap(memory, page) }
        try body(try DiskFile(reading: "/proc/self/mem"), Int64(Int(bitPattern: memory)) + Int64(page))
    }

    @Test("a read error is reported, and never taken for the file's end")
    func errors() throws {
        try self.withBadPlace { file, bad in
            let whole = try file.read(at: bad - 10, count: 10)
            #expect(whole == ByteBuffer(repeating: 0x41, count: 10))
            // The bytes before the bad place are not the whole text.
            let failure = #expect(throws: RecordingFailure.self) { try file.read(at: bad - 10, count: 20) }
            #expect(failure?.description.contains("/proc/self/mem") == true, "\(String(describing: failure))")
            #expect(throws: RecordingFailure.self) { try file.read(at: bad, count: 1) }
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
            defer { bytes.deallocate() }
            #expect(throws: RecordingFailure.self) { try file.read(at: bad, into: bytes) }
        }
    }

    @Test("a reader gets the error of a bad place, with a read-ahead thread and without")
    func recordings() throws {
        try self.withBadPlace { file, bad in
            let bytes = try? RecordingBytes(file: file, at: bad - 10, skip: 0)
            // The file's first bytes are read on opening, and cannot be read either.
            #expect(bytes == nil)
        }
        #expect(throws: RecordingFailure.self) { try RecordingCheck.check("/proc/self/mem") }
        #expect(throws: RecordingFailure.self) { try RecordingMap(path: "/proc/self/mem") }
        #expect(throws: RecordingFailure.self) { try RecordingStream(path: "/proc/self/mem") }
    }
}
