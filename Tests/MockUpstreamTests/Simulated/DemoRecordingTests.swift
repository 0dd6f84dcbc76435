import MockUpstream
import NIOCore
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The bundled recording is generated. To write it anew, run this suite with `TICKERTAPE_WRITE_DEMO=1`.
@Suite struct DemoRecordingTests {
    /// The file in the program's resources.
    private var path: String {
        let here = #filePath.split(separator: "/").dropLast(4)
        return "/" + here.joined(separator: "/") + "/Sources/Tickertape/Resources/demo.jsonl"
    }

    @Test("the bundled recording is what the simulated market makes from its seed")
    func matches() throws {
        let made = Array(DemoRecording.encoded().readableBytesView)
        #expect(made.count < 1_500_000)
        if getenv("TICKERTAPE_WRITE_DEMO") != nil {
            let file = try #require(fopen(self.path, "wb"))
            defer { fclose(file) }
            #expect(fwrite(made, 1, made.count, file) == made.count)
        }
        let file = try #require(fopen(self.path, "rb"))
        defer { fclose(file) }
        var bundled = [UInt8](repeating: 0, count: 2_000_000)
        bundled.removeLast(bundled.count - fread(&bundled, 1, bundled.count, file))
        #expect(bundled == made, "write it anew with TICKERTAPE_WRITE_DEMO=1")
    }
}
