import NIOCore
import Testing
import Wire

@Suite struct Base64Tests {
    @Test(
        "is exact, with padding",
        arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
    )
    func standard(plain: String, text: String) {
        var written = ByteBuffer()
        Base64.write(ByteBuffer(string: plain).readableBytesView, into: &written)
        #expect(String(buffer: written) == text)
        #expect(Base64.decode(text[...].utf8) == ByteBuffer(string: plain))
        for wrong in ["Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Z g=", "Zm9vZ", "Zg==\n", "-_==", "Zg=a"] {
            #expect(Base64.decode(wrong[...].utf8) == nil)
        }
    }

    @Test("is exact, for URLs and without padding", arguments: 0...9)
    func url(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: 250 + $0) }
        let text = Base64.text(bytes, as: .url)
        #expect(Base64.decode(text[...].utf8, as: .url) == ByteBuffer(bytes: bytes))
        #expect(text.contains { "+/=".contains($0) } == false)
        for wrong in ["*", "=", "+", "/"] { #expect(Base64.decode((text + wrong)[...].utf8, as: .url) == nil) }
        let other = Base64.text(bytes, as: .standard)
        #expect(other.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" } == text)
    }
}
