import Market
import Testing

@Suite struct ExactDecimalTests {
    @Test(
        "text in and text out are the same digits",
        arguments: [
            "0", "1", "-1", "26626", "61837.63", "0.00000095", "0.000004", "1000000", "123456789012345678",
            "0.123456789012345678", "-0.5", "10000000000000000000000", "-12345678901234567.8",
            "0.00000000000000000000000000000000000001",
        ]
    )
    func roundTrip(text: String) { #expect(ExactDecimal(text)?.description == text) }

    private static let writtenForms: [(String, String)] = [
        ("1.50", "1.5"), ("0.000", "0"), ("-0", "0"), ("0e99999999999999999999", "0"), ("1e3", "1000"),
        ("1.5E+02", "150"), ("95e-8", "0.00000095"), ("9.5e-07", "0.00000095"), ("100e-2", "1"),
        ("0.10", "0.1"), ("1e-45", "1e-45"), ("12e44", "1.2e45"), ("1e1000", "1e1000"),
        ("1000000000000000000000000000000", "1000000000000000000000000000000"),
        ("0." + String(repeating: "0", count: 2_000) + "1e1990", "0.00000000001"),
        ("123456789012345678000000.000", "123456789012345678000000"),
    ]

    @Test(
        "every JSON number of up to 18 significant digits is held exactly",
        arguments: Self.writtenForms
    )
    func forms(text: String, expected: String) { #expect(ExactDecimal(text)?.description == expected) }

    @Test(
        "what is no JSON number or cannot be held is refused, never rounded",
        arguments: [
            "", "-", "+1", "01", "1.", ".5", "1e", "1e+", "1 ", " 1", "NaN", "Infinity", "0x10", "1,5", "--1", "1.2.3",
            "1234567890123456789", "0.1234567890123456789", "1000000000000000001", "1e1001", "1e-1001",
            "1e99999999999999999999", "1e-99999999999999999999", "１",
        ]
    )
    func refused(text: String) { #expect(ExactDecimal(text) == nil) }

    @Test("equal numbers have equal bits, however they are written")
    func normalised() {
        let forms = ["150", "150.0", "1.5e2", "1500e-1", "15e1"].map { ExactDecimal($0) }
        #expect(Set(forms).count == 1)
        #expect(ExactDecimal(significand: 1_500, exponent: -1) == forms[0])
        #expect(ExactDecimal(significand: .max, exponent: 0) == nil)
        #expect(ExactDecimal(significand: .min, exponent: 0) == nil)
    }

    /// Numbers in strictly ascending order.
    private static let backoff = [
        "-1e1000", "-999999999999999999e982", "-2", "-1.5", "-1.000000000000001", "-1", "-1e-1000", "0", "1e-1000",
        "0.999999999999999999", "1", "1.00000000000000001", "9", "9.00000000000000001", "10", "99999999999999999.9",
        "100000000000000000", "999999999999999999", "1e18", "1e19", "999999999999999999e982", "1e1000",
    ]

    @Test("order is exact for any exponents")
    func order() throws {
        let numbers = try Self.backoff.map { try #require(ExactDecimal($0)) }
        for (lower, number) in numbers.enumerated() {
            for (higher, other) in numbers.enumerated() {
                #expect((number < other) == (lower < higher), "\(number) < \(other)")
                #expect((number == other) == (lower == higher))
            }
        }
    }

    private static let exactSums: [(String, String, String)] = [
        ("1", "2", "3"), ("0.1", "0.2", "0.3"), ("61837.63", "-61837.63", "0"), ("1e18", "-1", "999999999999999999"),
        ("999999999999999999", "1", "1000000000000000000"), ("0", "5", "5"), ("5", "0", "5"),
        ("99.99", "0.01", "100"), ("1e500", "1e500", "2e500"),
    ]

    @Test(
        "sums are exact",
        arguments: Self.exactSums
    )
    func sums(left: String, right: String, sum: String) throws {
        let (left, right) = (try #require(ExactDecimal(left)), try #require(ExactDecimal(right)))
        #expect(left.adding(right)?.description == sum)
        #expect(right.adding(left)?.description == sum)
        #expect(left.adding(right)?.subtracting(right) == left)
    }

    @Test("a sum of more than 18 digits is refused, not rounded")
    func unheldSums() throws {
        let pairs = [("1e18", "1"), ("1e19", "-1"), ("1e1000", "1e-1000"), ("999999999999999999", "0.1")]
        for (left, right) in pairs {
            let (left, right) = (try #require(ExactDecimal(left)), try #require(ExactDecimal(right)))
            #expect(left.adding(right) == nil)
            #expect(right.adding(left) == nil)
        }
    }

    private static let finnhubForms: [(String, String)] = [
        ("0.000001", "0.000001"), ("0.00000095", "9.5e-7"), ("-0.00000095", "-9.5e-7"), ("1e-10", "1e-10"),
        ("0.0000012", "0.0000012"), ("26626", "26626"), ("100000000000000000000", "100000000000000000000"),
        ("1e21", "1e+21"), ("1234e19", "1.234e+22"), ("0", "0"),
    ]

    @Test(
        "Finnhub's notation has an exponent only below a millionth and from 10^21",
        arguments: Self.finnhubForms
    )
    func finnhubStyle(text: String, expected: String) throws {
        let number = try #require(ExactDecimal(text))
        let written = withUnsafeTemporaryAllocation(byteCount: ExactDecimal.maximumTextLength, alignment: 1) { buffer in
            let count = number.write(to: buffer, style: .finnhub)
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
        #expect(written == expected)
        #expect(ExactDecimal(written) == number)
    }

    @Test("any number survives its own text, in either notation")
    func randomRoundTrips() throws {
        var random = SeededGenerator(seed: 18)
        for _ in 0..<5_000 {
            let digits = Int64.random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random)
            let cut = digits >> Int64.random(in: 0..<60, using: &random)
            let exponent = Int.random(in: 0..<4, using: &random) == 0 ? -900...900 : -20...20
            let number = try #require(
                ExactDecimal(significand: cut, exponent: Int.random(in: exponent, using: &random))
            )
            #expect(ExactDecimal(number.description) == number)
            #expect(ExactSum(number.description)?.decimal == number)
        }
    }
}
